/** Address and proof of `postern sendmail`. They are a separate module, so that the command starts in milliseconds and loads little. */
import { isProof, proofOf } from '#core/access/keys/key-proof.ts'

export const sendmailPath = '/v1/sendmail'
export const sendmailType = 'application/octet-stream'

/** Fields that a proof covers, in addition to the message. */
export interface SendmailHead {
  readonly id: string
  readonly from: string
  readonly to: readonly string[]
  readonly by: string
}

const signed = ({ id, from, to, by }: SendmailHead): Buffer => Buffer.from(`${JSON.stringify([id, from, to, by])}\n`)

/** Returns the proof; `sha256` is the hash of the key. */
export const sendmailProof = (sha256: string, head: SendmailHead, message: Uint8Array): string => proofOf(sha256, signed(head), message)
export const isSendmailProof = (given: string, sha256: string, head: SendmailHead, message: Uint8Array): boolean =>
  isProof(given, sha256, signed(head), message)
