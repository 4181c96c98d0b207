/** The thank-you page of a submission. Its link contains an authentication code (HMAC) and works for one day. */
import { timingSafeEqual } from 'node:crypto'
import type { Core } from '../../core.ts'
import { thanksFor } from '../definition/public-definition.ts'
import { localized } from '../definition/translations.ts'
import type { Answer } from '../definition/definition.ts'
import { noForm, type PublicForms } from './public-forms.ts'
import { formSubmissions, referenceOf } from './submission.ts'

export interface Thanks {
  readonly title: string
  readonly body: string
  readonly redirectUrl: string | null
  /** Short reference of the submission, which its owner can search for. */
  readonly reference: string
  readonly receivedAt: number
  /** The visitor's address for replies, mostly masked. */
  readonly maskedEmail: string | undefined
  /** Files of the submission are still to be scanned. */
  readonly areFilesPending: boolean
}

const purpose = 'form.thanks.v1'
const macBytes = 16
const shownMs = 24 * 3_600_000

export class FormThanks {
  readonly #core: Core
  readonly #publicForms: PublicForms

  constructor(core: Core, publicForms: PublicForms) {
    this.#core = core
    this.#publicForms = publicForms
  }

  /** Returns the submission id with its authentication code, for the link to the page. */
  seal(publicId: string, submissionId: string): string {
    return `${submissionId}.${this.#macOf(publicId, submissionId).toString('base64url')}`
  }

  /** Throws `form_not_found` for an invalid link and after one day. */
  async read(publicId: string, sealed: string, language: string | undefined): Promise<Thanks> {
    const [id = '', mac = ''] = sealed.split('.')
    const given = Buffer.from(mac, 'base64url')
    if (given.length !== macBytes || !timingSafeEqual(given, this.#macOf(publicId, id))) throw noForm()
    const { database, clock } = this.#core
    const found = await this.#publicForms.find(publicId)
    const submission = (await database.lookup(formSubmissions, 'id', [id]))?.record
    if (submission?.formId !== found.stored.record.id || clock.now() - submission.createdAt > shownMs) throw noForm()
    const definition = await this.#publicForms.definition(found, submission.version)
    const email = definition.schema.fields.find(({ key, type }) => type === 'email' && submission.answers[key] !== undefined)
    return {
      ...thanksFor(localized(definition, language), submission.answers),
      reference: referenceOf(submission),
      receivedAt: submission.createdAt,
      maskedEmail: email && masked(submission.answers[email.key]),
      areFilesPending: submission.files.some(({ status }) => status === 'pending'),
    }
  }

  #macOf(publicId: string, submissionId: string): Buffer {
    return this.#core.secrets.mac(purpose, Buffer.from(`${publicId}/${submissionId}`)).subarray(0, macBytes)
  }
}

function masked(address: Answer | undefined): string | undefined {
  if (typeof address !== 'string') return undefined
  const [first = ''] = address
  return `${first}•••${address.slice(address.lastIndexOf('@'))}`
}
