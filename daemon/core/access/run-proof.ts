/**
 * Proves that a daemon wrote the operator file of a data folder. Has few imports, because `postern sendmail` must start within
 * milliseconds.
 */
import { createHmac } from 'node:crypto'

export const proofPath = '/operator/proof'

/** Returns the answer to a challenge, which only a holder of the token can compute. */
export const proofOf = (token: string, challenge: string): string =>
  createHmac('sha256', token).update(`postern run proof\0${challenge}`).digest('base64url')
