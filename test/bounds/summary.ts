/** A summary of a walk in one line. */
import { allowed, bounds, type Walked } from './walk.ts'

export const told = (walked: Walked): string => {
  const { what, bytes, all, piece, answer } = walked
  return `${what} (${bytes} octets): ${all.toFixed(0)} ms of ${allowed(walked).toFixed(0)}, ${piece.toFixed(0)} ms of ${(walked.pace * bounds.piece).toFixed(0)} in one piece; ${answer.replaceAll(/\s+/g, ' ').slice(0, 100)}`
}
