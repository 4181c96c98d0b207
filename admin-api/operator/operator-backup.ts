/** Operations for the command line on the same machine: take a snapshot of a running daemon's data, and verify the data. */
import { Readable } from 'node:stream'
import * as z from 'zod'
import { UnknownBackup, type EarlierBackup } from '#store/backup/past-backups.ts'
import type { VerifyReport } from '#store/verify/verify.ts'
import { Refusal } from '#core/refusals.ts'
import { media, raw } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { beatUntil } from './beats.ts'
import { requireRunToken } from './operator-link.ts'

export const backupPath = '/operator/backup'
export const verifyPath = '/operator/verify'

export interface OperatorBackupOptions {
  /** Token that the caller must send. */
  readonly token: string
  /** Returns the frames of a backup, without row values that are unchanged since an earlier backup. Throws `UnknownBackup`. */
  readonly frames: (since: EarlierBackup | undefined) => Promise<AsyncIterable<Uint8Array>>
  readonly verify: () => Promise<VerifyReport>
}

const frameType = 'application/octet-stream'
const reportType = 'application/x-ndjson'

export const operatorBackupOperations = ({ token, frames, verify }: OperatorBackupOptions): readonly Operation[] => [
  operation({
    method: 'GET',
    path: backupPath,
    operationId: 'readBackup',
    summary: 'Stream a snapshot of all stored data',
    tags: ['process'],
    scope: 'none',
    hiddenFromOpenApi: true,
    query: z.strictObject({
      /** Id of the backup to continue from, with its last write. */
      since: z.uuid().optional(),
      until: z
        .string()
        .regex(/^\d{1,20}$/)
        .default('0'),
    }),
    response: media(frameType),
    async handle({ headers, headOnly, query }) {
      requireRunToken(headers, token)
      const { since: id, until } = query
      const since = id === undefined ? undefined : { id, until: BigInt(until) }
      return raw(headOnly ? '' : Readable.from(await knownFrames(frames(since)), { objectMode: false }), {
        contentType: frameType,
        isLate: true,
      })
    },
  }),
  operation({
    method: 'GET',
    path: verifyPath,
    operationId: 'verifyStore',
    summary: 'Verify the store while it is in use',
    tags: ['process'],
    scope: 'none',
    hiddenFromOpenApi: true,
    response: media(reportType),
    async handle({ headers, headOnly }) {
      requireRunToken(headers, token)
      return raw(headOnly ? '' : Readable.from(beatUntil(verify())), { contentType: reportType, isLate: true })
    },
  }),
]

async function knownFrames(frames: Promise<AsyncIterable<Uint8Array>>): Promise<AsyncIterable<Uint8Array>> {
  try {
    return await frames
  } catch (error) {
    throw error instanceof UnknownBackup ? new Refusal('conflict', error.message) : error
  }
}
