/** Downloads of submission files by links that are valid for one minute, only after a clean scan. */
import { timingSafeEqual } from 'node:crypto'
import type { Bytes } from '#store/kv.ts'
import { readContent } from '#store/content.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import { Refusal } from '../../refusals.ts'
import { must } from '../../writes/transact.ts'
import { forms } from '../form.ts'
import { formSubmissions } from '../submissions/submission.ts'
import type { SubmissionFile } from './submission-file.ts'

export interface FileDownloadsOptions extends Core {
  readonly hasScanner: boolean
  /** The operator allows downloads of unscanned files. */
  readonly allowsUnscanned: boolean
}

export interface FileDownload {
  readonly name: string
  readonly contentType: string
  readonly size: number
  readonly octets: AsyncIterable<Bytes>
}

const purpose = 'form.file.v1'
const macBytes = 16
const shownMs = 60_000

export class FileDownloads {
  readonly #options: FileDownloadsOptions

  constructor(options: FileDownloadsOptions) {
    this.#options = options
  }

  /**
   * Returns ids, expiry and an authentication code (HMAC), for the download link. Throws `not_found`, `scan_pending` and `file_infected`.
   */
  async link(
    principal: Principal,
    { id: formId, submissionId, fileId }: { readonly id: string; readonly submissionId: string; readonly fileId: string },
  ): Promise<string> {
    const { database, clock } = this.#options
    await must(database, forms, principal, formId)
    const stored = await database.get(formSubmissions, { organizationId: principal.organizationId }, submissionId)
    const file = stored?.record.formId === formId ? stored.record.files.find(({ id }) => id === fileId) : undefined
    if (!file) throw new Refusal('not_found', 'No file of this submission has this id.')
    this.#requireScan(file)
    const text = [submissionId, fileId, (clock.now() + shownMs).toString(36)].join('.')
    return `${text}.${this.#macOf(text).toString('base64url')}`
  }

  /** Throws `not_found` for invalid and expired links, and for deleted files. */
  async open(sealed: string): Promise<FileDownload> {
    const { database, policies, clock } = this.#options
    const [submissionId = '', fileId = '', until = '', mac = ''] = sealed.split('.')
    const given = Buffer.from(mac, 'base64url')
    const isOurs = given.length === macBytes && timingSafeEqual(given, this.#macOf([submissionId, fileId, until].join('.')))
    if (!isOurs || clock.now() > Number.parseInt(until, 36)) throw over()
    const stored = await database.lookup(formSubmissions, 'id', [submissionId])
    const file = stored?.record.files.find(({ id }) => id === fileId)
    if (!stored || !file?.content) throw over()
    const { organization } = await policies.of(stored.organizationId)
    if (organization.deletedAt !== undefined || !isSwitchedOn(organization, 'forms')) throw over()
    this.#requireScan(file)
    const { name, contentType, content } = file
    return { name, contentType, size: content.size, octets: readContent(database, stored.organizationId, content) }
  }

  #requireScan({ status, virus }: SubmissionFile): void {
    const { hasScanner, allowsUnscanned } = this.#options
    if (status === 'clean') return
    if (status === 'infected')
      throw new Refusal('file_infected', `The file had a virus and was deleted (${virus ?? 'unknown'}); ask the sender for another one.`)
    if (hasScanner)
      throw new Refusal('scan_pending', 'The virus scan of the file is pending. Try again in a moment.', { retryAfterSeconds: 10 })
    if (allowsUnscanned) return
    const message = 'The service has no virus scanner, so files cannot be downloaded. Ask the operator of the service.'
    throw new Refusal('scan_pending', message, { nextAction: 'ask_operator' })
  }

  #macOf(text: string): Buffer {
    return this.#options.secrets.mac(purpose, Buffer.from(text)).subarray(0, macBytes)
  }
}

const over = (): Refusal => new Refusal('not_found', 'This link has expired. Get a new link.')
