/** Bodies as browsers and OAuth clients send them: application/x-www-form-urlencoded, where a name may come more than once. */
import * as z from 'zod'
import { streamed, type BodyStream } from './body-stream.ts'

/** Declares such a body. */
export const formBody = streamed({ 'application/x-www-form-urlencoded': z.record(z.string(), z.string()) })

/** Throws what reading a body throws. */
export async function readForm({ bytes }: BodyStream): Promise<URLSearchParams> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return new URLSearchParams(Buffer.concat(pieces).toString('utf8'))
}
