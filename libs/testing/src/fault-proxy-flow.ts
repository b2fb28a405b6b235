import type { Socket } from 'node:net';
import { PASS, type FlowFault } from './fault-proxy-fault.js';

/** From how much held back on, the sender is made to wait, as a full network would. Bytes. */
const HELD_LIMIT_BYTES = 1024 * 1024;

/** A throttled flow moves in so many steps a second. */
const STEPS_PER_SECOND = 20;

/** Bytes that wait for their turn; null stands for the end of the stream. */
interface Piece {
  readonly bytes: Buffer | null;
  dueMs: number;
}

/** One direction of a connection. What is given to it comes out in order, when and if its fault lets it. */
export class Flow {
  private fault: FlowFault = PASS;
  private readonly waiting: Piece[] = [];
  private heldBytes = 0;
  /** When the piece that was scheduled last is due, by `performance.now()`. */
  private lastDueMs = 0;
  private timer: NodeJS.Timeout | undefined;
  private hole = false;

  constructor(
    private readonly source: Socket,
    private readonly sink: Socket,
  ) {
    sink.on('drain', () => this.pump());
    sink.once('close', () => this.discard());
  }

  /** Whether something was swallowed, so that the stream can never be made whole. */
  get hasHole(): boolean {
    return this.hole;
  }

  /** Whether a reset of the one side is felt on the other. */
  get carriesResets(): boolean {
    return this.fault.kind !== 'drop' && this.fault.kind !== 'stall';
  }

  set(fault: FlowFault): void {
    this.fault = fault;
    this.lastDueMs = 0;
    if (fault.kind === 'drop' && this.waiting.length > 0) this.lose();
    for (const piece of this.waiting) piece.dueMs = this.dueOf(piece.bytes);
    this.pump();
  }

  take(bytes: Buffer | null): void {
    if (this.fault.kind === 'drop') return this.lose();
    for (const piece of this.slices(bytes)) {
      this.waiting.push({ bytes: piece, dueMs: this.dueOf(piece) });
      this.heldBytes += piece?.length ?? 0;
    }
    this.pump();
  }

  /** Notes that the stream broke off while nothing could be told to the other side. */
  lose(): void {
    this.hole = true;
    this.discard();
  }

  private discard(): void {
    clearTimeout(this.timer);
    this.waiting.length = 0;
    this.heldBytes = 0;
    this.source.resume();
  }

  private pump(): void {
    clearTimeout(this.timer);
    while (this.waiting[0] && this.fault.kind !== 'stall' && !this.sink.writableNeedDrain) {
      const waitMs = this.waiting[0].dueMs - performance.now();
      if (waitMs > 0) {
        this.timer = setTimeout(() => this.pump(), waitMs);
        break;
      }
      this.forward(this.waiting.shift()!);
    }
    if (this.heldBytes > HELD_LIMIT_BYTES) this.source.pause();
    else this.source.resume();
  }

  private forward({ bytes }: Piece): void {
    this.heldBytes -= bytes?.length ?? 0;
    if (this.sink.destroyed) return;
    if (bytes === null) this.sink.end();
    else this.sink.write(bytes);
  }

  private dueOf(bytes: Buffer | null): number {
    const now = performance.now();
    if (this.fault.kind === 'latency') this.lastDueMs = Math.max(this.lastDueMs, now + this.fault.ms);
    else if (this.fault.kind === 'throttle') {
      const takesMs = (1000 * (bytes?.length ?? 0)) / this.fault.bytesPerSecond;
      this.lastDueMs = Math.max(this.lastDueMs, now) + takesMs;
    } else this.lastDueMs = Math.max(this.lastDueMs, now);
    return this.lastDueMs;
  }

  /** A throttled flow trickles; without slices it would arrive in lumps of 64 KiB. */
  private slices(bytes: Buffer | null): (Buffer | null)[] {
    if (bytes === null || this.fault.kind !== 'throttle') return [bytes];
    const size = Math.max(1, Math.floor(this.fault.bytesPerSecond / STEPS_PER_SECOND));
    const slices: Buffer[] = [];
    for (let start = 0; start < bytes.length; start += size) slices.push(bytes.subarray(start, start + size));
    return slices;
  }
}
