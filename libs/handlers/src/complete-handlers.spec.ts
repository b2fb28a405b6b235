import { describe, expect, it } from '@jest/globals';
import { defineJob, JobHandler } from '@deadman/sdk';
import { completeHandlers, knownTypes } from './complete-handlers.js';
import type { HandlerExport } from './handler-exports.js';

@JobHandler('mail.send')
class SendMail {
  run(): string {
    return 'sent';
  }
}

@JobHandler('mail.bounce')
class BounceMail {
  readonly mailbox: string;

  constructor(mailbox: string) {
    this.mailbox = mailbox;
  }

  run(): string {
    return this.mailbox;
  }
}

const ready = (type: string, place: string): HandlerExport => ({
  kind: 'handler',
  value: defineJob({ type, run: () => null }),
  place,
});
const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'handler-invalid', message: expect.stringContaining(message) });
const types = (loaded: readonly HandlerExport[], provided: readonly object[] = []): readonly string[] =>
  completeHandlers(loaded, provided).map(({ value }) => value.type);

describe('completeHandlers', () => {
  it('has the demo handlers always', () => {
    expect(types([])).toEqual(['demo.echo', 'demo.sleep', 'demo.fail', 'demo.countdown']);
  });

  it('adds what was loaded, and constructs a class that nobody provides', () => {
    const loaded: HandlerExport[] = [ready('a', 'a.js'), { kind: 'class', value: SendMail, place: 'b.js' }];
    expect(types(loaded).slice(4)).toEqual(['a', 'mail.send']);
  });

  it('uses the instance that the container made of a loaded class, once', () => {
    const loaded: HandlerExport[] = [{ kind: 'class', value: BounceMail, place: 'b.js' }];
    const provided = [new BounceMail('first'), new BounceMail('second'), new Date()];
    const bounce = completeHandlers(loaded, provided).filter(({ value }) => value.type === 'mail.bounce');
    expect(bounce.map(({ value }) => value.run({} as never))).toEqual(['first']);
  });

  it('says what to do about a class that cannot be constructed without arguments', () => {
    const loaded: HandlerExport[] = [{ kind: 'class', value: BounceMail, place: 'b.js, export BounceMail' }];
    expect(() => types(loaded)).toThrow(invalid('b.js, export BounceMail: BounceMail takes constructor arguments'));
  });

  it('names both places when a type is defined twice', () => {
    expect(() => types([ready('x', 'a.js'), ready('x', 'b.js')])).toThrow(invalid("'x' is defined twice: a.js; b.js"));
    expect(() => types([ready('demo.echo', 'a.js')])).toThrow(invalid('built into Deadman; a.js'));
    expect(() => types([ready('mail.send', 'a.js')], [new SendMail()])).toThrow(invalid('a.js; provider SendMail'));
  });

  it('knows the types of everything but modules before those exist', () => {
    class TeamModule {}
    const loaded: HandlerExport[] = [
      ready('a', 'a.js'),
      { kind: 'class', value: BounceMail, place: 'b.js' },
      { kind: 'module', value: TeamModule, place: 'c.js' },
    ];
    expect(knownTypes(loaded).slice(4)).toEqual(['a', 'mail.bounce']);
  });
});
