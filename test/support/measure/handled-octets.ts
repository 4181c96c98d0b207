/**
 * Counts large pieces of octets that code of this process allocates, copies, hashes, sums and converts to text. Smaller pieces, such as
 * headers and records, are not counted.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { ExecutionContext } from 'ava'
import zlib from 'node:zlib'

export interface HandledOctets {
  /** In allocated buffers, regardless of later writes. */
  allocated: number
  /** By functions that copy whole buffers. */
  copied: number
  hashed: number
  /** By CRC-32. */
  summed: number
  /** Converted to text, or from text. */
  text: number
  /** Call sites, for messages of failed tests. */
  readonly callers: string[]
}

type Kind = Exclude<keyof HandledOctets, 'callers'>

type Call = (...args: unknown[]) => unknown

const least = 4096
const mostCallers = 50

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object
const lengthOf = (piece: unknown): number => (piece instanceof Uint8Array || typeof piece === 'string' ? piece.length : 0)
const octetsOf = (piece: unknown): number => (piece instanceof Uint8Array ? piece.length : 0)

/** Counts until the test ends. It must be the only test of its process, since all code of the process counts. */
export function countHandled(t: Pick<ExecutionContext, 'teardown'>): HandledOctets {
  const handled: HandledOctets = { allocated: 0, copied: 0, hashed: 0, summed: 0, text: 0, callers: [] }
  t.teardown(() => syncBuiltinESMExports()) // after all originals are restored
  const watch = (owner: object, name: string, kind: Kind, octets: (self: unknown, args: readonly unknown[]) => number): void => {
    const real = Reflect.get(owner, name) as Call
    const counting = function (this: unknown, ...args: unknown[]): unknown {
      const count = octets(this, args)
      if (count >= least) {
        handled[kind] += count
        if (handled.callers.length < mostCallers) handled.callers.push(`${kind} ${count} ${new Error().stack}`)
      }
      return Reflect.apply(real, this, args)
    }
    Reflect.set(owner, name, counting)
    t.teardown(() => Reflect.set(owner, name, real))
  }
  for (const name of ['alloc', 'allocUnsafe', 'allocUnsafeSlow']) watch(Buffer, name, 'allocated', (_, [size]) => Number(size))
  watch(Buffer, 'concat', 'copied', (_, [pieces]) => (pieces as unknown[]).reduce<number>((sum, piece) => sum + octetsOf(piece), 0))
  watch(Buffer, 'from', 'copied', (_, [piece]) => octetsOf(piece))
  watch(Buffer, 'copyBytesFrom', 'copied', (_, [piece]) => octetsOf(piece))
  watch(Buffer.prototype, 'copy', 'copied', (self, [, , from = 0, until = lengthOf(self)]) => Number(until) - Number(from))
  watch(typedArray, 'slice', 'copied', (self, [from = 0, until = lengthOf(self)]) => Number(until) - Number(from))
  watch(typedArray, 'set', 'copied', (_, [piece]) => octetsOf(piece))
  watch(Buffer.prototype, 'toString', 'text', (self, [, from = 0, until = lengthOf(self)]) => Number(until) - Number(from))
  watch(TextDecoder.prototype, 'decode', 'text', (_, [piece]) => octetsOf(piece))
  watch(crypto.Hash.prototype, 'update', 'hashed', (_, [piece]) => lengthOf(piece))
  watch(crypto.Hmac.prototype, 'update', 'hashed', (_, [piece]) => lengthOf(piece))
  watch(crypto, 'hash', 'hashed', (_, [, piece]) => lengthOf(piece))
  watch(zlib, 'crc32', 'summed', (_, [piece]) => lengthOf(piece))
  syncBuiltinESMExports()
  return handled
}
