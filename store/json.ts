/** Encodes values as JSON bytes and decodes them. */
import type { Bytes } from './kv.ts'

export const encode = (value: unknown): Bytes => Buffer.from(JSON.stringify(value))
export const decode = <T>(bytes: Bytes): T =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as T
