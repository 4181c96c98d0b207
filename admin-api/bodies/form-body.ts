/** Bodies of browsers and OAuth clients: application/x-www-form-urlencoded, with repeated names allowed. */
import * as z from 'zod'
import { streamed, type BodyStream } from './body-stream.ts'

/** Declares such a body. */
export const formBody = streamed({ 'application/x-www-form-urlencoded': z.record(z.string(), z.string()) })

/** Throws the errors of reading the body. */
export async function readForm({ bytes }: BodyStream): Promise<URLSearchParams> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return new URLSearchParams(Buffer.concat(pieces).toString('utf8'))
}
