import type { Handler } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { HandlerRegistry } from './handler-registry.js';

const handlerOf = (type: unknown): Handler => ({
  type: type as string,
  parse: (value) => ({ value }),
  run: () => undefined,
});

describe('HandlerRegistry', () => {
  it('finds a handler by the type it runs', () => {
    const registry = new HandlerRegistry();
    const echo = handlerOf('demo.echo');
    registry.register(echo);
    registry.register(handlerOf('mail'));
    expect(registry.find('demo.echo')).toBe(echo);
    expect(registry.types()).toEqual(['demo.echo', 'mail']);
  });

  it.each(['toString', '__proto__', 'constructor', 'nobody'])(
    'knows no handler for %s unless one was registered',
    (type) => {
      expect(new HandlerRegistry().find(type)).toBeUndefined();
    },
  );

  it.each([
    '',
    'Mail',
    'a..b',
    '../x',
    ' mail',
    'mail\n',
    'x'.repeat(129),
    undefined,
    null,
    7,
    10n,
    Symbol('type'),
    {},
  ])('refuses a type that no job can have: %p', (type) => {
    expect(() => new HandlerRegistry().register(handlerOf(type))).toThrow(
      expect.objectContaining({ code: 'handler-invalid' }),
    );
  });

  it('refuses a second handler for a type and keeps the first', () => {
    const registry = new HandlerRegistry();
    const first = handlerOf('mail');
    registry.register(first);
    expect(() => registry.register(handlerOf('mail'))).toThrow(expect.objectContaining({ code: 'handler-invalid' }));
    expect(registry.find('mail')).toBe(first);
  });
});
