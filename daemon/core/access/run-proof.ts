/** How a daemon proves that it wrote the operator file of a data folder. Imports little, as `postern sendmail` starts in milliseconds. */
import { createHmac } from 'node:crypto'

export const proofPath = '/operator/proof'

/** What only a holder of the token can make of a challenge. */
export const proofOf = (token: string, challenge: string): string =>
  createHmac('sha256', token).update(`postern run proof\0${challenge}`).digest('base64url')
