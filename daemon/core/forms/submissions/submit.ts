/**
 * Accepts submissions of visitors. Order of checks: form, origin, rates, honeypot, token, captcha, fields. An accepted submission is
 * durable before the response. Spam is stored and flagged; its sender gets the normal response.
 */
import { hash } from 'node:crypto'
import { decode, encode } from '#store/change.ts'
import { keyName, pack, type Element } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import { failed as captchaFailed, type Captchas } from '../../visitors/captcha.ts'
import { RateWindow } from '../../visitors/rate-window.ts'
import type { Window } from '../../visitors/stored-windows.ts'
import { transact, type Transaction } from '../../writes/transact.ts'
import { captchaKey, fillTimeKey, honeypotKey, isReservedKey, type Definition } from '../definition/definition.ts'
import { evaluate, type Evaluation } from '../definition/evaluate.ts'
import { thanksFor } from '../definition/public-definition.ts'
import { localized } from '../definition/translations.ts'
import { captchaContext, forms, type Form } from '../form.ts'
import { limitsOf } from '../../plan/limits.ts'
import { meter, storedFormFilesCounter } from '../../tenancy/counters.ts'
import type { Organization } from '../../tenancy/organization.ts'
import { followSubmission } from '../notifications/follow-submission.ts'
import { problemsWithFiles } from '../uploads/accept-files.ts'
import { followFiles, weightOfFiles, type SubmissionFile } from '../uploads/submission-file.ts'
import { UploadSlots } from '../uploads/upload-slots.ts'
import { takesFiles, Uploads } from '../uploads/uploads.ts'
import { clientNetwork } from '../../access/client-network.ts'
import { isGood, maxFillMs, newFillTimeToken, readFillTimeToken, tokenInstead, type FillTimeToken } from './fill-time-token.ts'
import { countInWindows, openFormWindows } from './form-windows.ts'
import { noForm, PublicForms, requireAllowedOrigin, type FoundForm } from './public-forms.ts'
import { countInForm, fillName, formNames } from '../analytics/form-counts.ts'
import type { FormVisits } from '../analytics/form-visits.ts'
import { count, projectNames } from '../../insights/count.ts'
import { withoutUnsigned } from './signed-values.ts'
import { insertSubmission, nonceKey, takenCounter, type FormSubmission, type SpamReason } from './submission.ts'

export interface SubmitOptions extends Core {
  readonly captchas: Captchas
  readonly publicForms: PublicForms
  readonly visits: Pick<FormVisits, 'fresh'>
  /** Origin of this service's pages, which is always allowed. */
  readonly ownOrigin: string
  /** A virus scanner is configured. */
  readonly hasScanner: boolean
}

/** The content and the origin of a request. */
export interface Visit {
  /** By key, including reserved keys. */
  readonly values: Readonly<Record<string, unknown>>
  /** Uploaded files. */
  readonly uploads?: Uploads | undefined
  readonly origin: string | undefined
  readonly remoteAddress: string
  /** Token from the header; without it, the field `captcha_token` is used. */
  readonly captchaToken: string | undefined
}

/** The response to the visitor. */
export interface Taken {
  readonly id: string
  readonly message: string
  readonly title: string
  readonly redirectUrl: string | null
}

interface UsedNonce extends Taken {
  readonly digest: string
}

interface Draft {
  /** The request filled in the invisible honeypot field. */
  readonly isTrap: boolean
  readonly found: FoundForm
  readonly definition: Definition
  readonly version: number
  readonly visit: Visit
  readonly spam: readonly SpamReason[]
  readonly token: FillTimeToken | undefined
  readonly evaluation: Evaluation
  readonly nowMs: number
  /** The earlier use of the token, if known at the start of the request. */
  readonly earlier: UsedNonce | undefined
  readonly windows: readonly Window[]
}

/** Data for creating a new token. */
interface Fresh {
  readonly form: Form
  /** Minimum fill time in seconds. */
  readonly least: number
}

/** Limits all tries per network. Accepted submissions also count in the stored windows. */
const tries = {
  name: 'tries to send a form',
  windowMs: 60_000,
  most: 60,
  message: 'This form was sent too often from your network; wait a minute.',
}
const captchaTokenMs = 3_600_000

export class SubmitForms {
  readonly #options: SubmitOptions
  readonly #tries: RateWindow
  readonly #slots = new UploadSlots()

  constructor(options: SubmitOptions) {
    this.#options = options
    this.#tries = new RateWindow(options, tries)
  }

  /** Returns the uploads of one submission; files arrive before the other fields. The caller must dispose of it in any case. */
  uploads(publicId: string, { origin, remoteAddress }: Pick<Visit, 'origin' | 'remoteAddress'>): Uploads {
    const { publicForms, clock, database, hasScanner } = this.#options
    const slot = this.#slots.of(remoteAddress)
    return new Uploads({
      ...{ database, status: hasScanner ? 'pending' : 'unscanned', nowMs: clock.now(), close: () => slot.leave() },
      open: async () => {
        const found = await publicForms.find(publicId)
        const { organization, stored } = found
        const definition = await publicForms.definition(found, stored.record.version)
        await this.#enter(stored.record, definition, { origin, remoteAddress, isNew: true })
        slot.enter()
        // visitors with an earlier version may send its files
        const hasFiles = stored.record.version > 1 || definition.schema.fields.some(({ type }) => type === 'file_upload')
        return { organizationId: organization.id, takesFiles: hasFiles && takesFiles(organization) }
      },
    })
  }

  /** Accepts a submission; resolves when it is durable. Throws the refusal of the first failed check and stores nothing. */
  async submit(publicId: string, visit: Visit): Promise<Taken> {
    const { publicForms, clock, secrets, database } = this.#options
    const found = await publicForms.find(publicId)
    const { record: form } = found.stored
    const nowMs = clock.now()
    const current = await publicForms.definition(found, form.version)
    await this.#enter(form, current, { ...visit, isNew: !visit.uploads?.isOpen })
    const given = visit.values[fillTimeKey]
    const read = typeof given === 'string' ? readFillTimeToken(secrets, form.id, given) : undefined
    const earlier = read && (await this.#usedBefore(found, read))
    if (earlier && earlier.digest === digestOf(visit)) return earlier // even if the form has been closed since
    const sender = { organization: found.organization, formId: form.id, remoteAddress: visit.remoteAddress }
    const windows = await openFormWindows(database, sender, nowMs)
    const facts = { found, visit, nowMs, earlier, windows }
    if (await publicForms.isClosed(found, current.settings)) throw closed(localized(current, read?.language))
    if (isFilled(visit.values[honeypotKey])) {
      const definition = localized(current, read?.language)
      const spam = ['honeypot'] as const
      return this.#keep(this.#draft({ ...facts, definition, version: form.version, spam, token: read, isTrap: true }))
    }
    const token = this.#goodToken({ form, least: current.settings.min_fill_seconds }, given, read, nowMs)
    const own = token.version === form.version ? current : await publicForms.definition(found, token.version)
    const definition = localized(own, token.language)
    const isFast = nowMs - token.issuedAt < definition.settings.min_fill_seconds * 1000
    const spam: readonly SpamReason[] = isFast ? ['too_fast'] : []
    const draft = this.#draft({ ...facts, definition, version: token.version, spam, token, isTrap: false })
    const captchaToken = await this.#checkCaptcha(form, current, visit)
    this.#checkFields(draft)
    return this.#keep(draft, captchaToken)
  }

  /** Checks the origin and the rate. `isNew`: the request was not counted yet. */
  async #enter(
    { id }: Form,
    definition: Definition,
    { origin, remoteAddress, isNew }: Pick<Visit, 'origin' | 'remoteAddress'> & { readonly isNew: boolean },
  ): Promise<void> {
    requireAllowedOrigin(definition.settings.allowed_origins, this.#options.ownOrigin, origin)
    if (isNew) await this.#tries.take(`${id} ${clientNetwork(remoteAddress)}`)
  }

  /** Returns the valid token. Throws `malformed_submission` with a new token, so that the visitor can send the form again. */
  #goodToken({ form, least }: Fresh, given: unknown, token: FillTimeToken | undefined, nowMs: number): FillTimeToken {
    if (token && isGood(token, form.version, nowMs)) return token
    const [code, message] = isFilled(given)
      ? token
        ? (['token_expired', 'The form was open for too long; send it again.'] as const)
        : (['invalid_token', 'The token is not valid for this form. Send the token returned with the form.'] as const)
      : (['required', 'Send the fill_time_token that came with the form.'] as const)
    const { secrets } = this.#options
    const shown = { ...form, language: token?.language }
    const fresh = token ? tokenInstead(secrets, shown, least, nowMs) : newFillTimeToken(secrets, shown, nowMs)
    throw malformed({ [fillTimeKey]: [{ code, message }] }, { fill_time_token: fresh })
  }

  /** Returns the verified token, which can be used once. */
  async #checkCaptcha(form: Form, { settings: { captcha } }: Definition, visit: Visit): Promise<string | undefined> {
    if (captcha === null) return undefined
    const inBody = visit.values[captchaKey]
    const token = visit.captchaToken ?? (typeof inBody === 'string' ? inBody : undefined)
    const owner = {
      ...{ id: form.id, noun: 'form' as const, place: captchaContext(form.id) },
      captcha: { provider: captcha.provider, siteKey: captcha.site_key, sealedSecret: form.sealedCaptchaSecret ?? '' },
    }
    await this.#options.captchas.verify(owner, { token, remoteAddress: visit.remoteAddress })
    return token
  }

  #checkFields({ evaluation, definition, visit, found }: Draft): void {
    const { fields } = definition.schema
    const uploads = visit.uploads?.all ?? []
    const problems = problemsWithFiles({ fields, uploads, evaluation, takesFiles: takesFiles(found.organization) })
    if (Object.keys(problems).length > 0) throw malformed(problems)
  }

  #draft(parts: Omit<Draft, 'evaluation'>): Draft {
    const today = new Date(parts.nowMs).toISOString().slice(0, 10)
    const { definition, found, visit } = parts
    const values = withoutUnsigned(this.#options.secrets, found.stored.record.id, definition, visit.values)
    const files = new Set(parts.isTrap ? [] : visit.uploads?.all.map(({ key }) => key))
    return { ...parts, evaluation: evaluate(parts.definition, { values, files, today, slackDays: 1 }) }
  }

  async #usedBefore({ organization, stored }: FoundForm, { nonce }: FillTimeToken): Promise<UsedNonce | undefined> {
    const row = await this.#options.database.kv.get(pack(nonceKey(organization.id, stored.record.id, nonce)))
    return row && decode<UsedNonce>(row.value)
  }

  /** Stores the submission and its rate counts in one write. A concurrent request with the same content gets the same response. */
  async #keep(draft: Draft, captchaToken?: string): Promise<Taken> {
    const { database, publicForms } = this.#options
    const { found, nowMs, visit, definition, token, isTrap } = draft
    const { organization, stored } = found
    const { id: formId } = stored.record
    const { id: organizationId } = organization
    const { title, body, redirectUrl } = thanksFor(definition, draft.evaluation.answers)
    const passed = this.#pagesPassed(draft)
    const { uploads } = visit
    const fileKeys = new Set(draft.isTrap ? [] : Object.keys(draft.evaluation.answers))
    let files: readonly SubmissionFile[] = []
    const taken: Taken = { id: uploads?.submissionId ?? database.newId('sub', nowMs), message: body || title, title, redirectUrl }
    let tries = 0
    const result = await transact(database, { organizationId }, async (change) => {
      const isFirst = tries++ === 0
      // the first try uses the form as read; after a conflict it is read again
      if (isFirst) change.checkRecord(forms, organizationId, stored)
      const form = isFirst ? stored.record : (await change.get(forms, formId))?.record
      if (form?.status !== 'published') throw noForm()
      const nonce = token && !isTrap ? nonceKey(organizationId, formId, token.nonce) : undefined
      const earlier = token && nonce && (isFirst ? draft.earlier : await this.#usedBefore(found, token))
      if (earlier && earlier.digest === digestOf(visit)) return earlier
      const spam: readonly SpamReason[] = earlier ? [...draft.spam, 'token_reuse'] : draft.spam
      countInWindows(change, draft.windows, organization, nowMs)
      if (nonce && !earlier) change.setNew(nonce, encode({ ...taken, digest: digestOf(visit) })).expire(nowMs + 2 * maxFillMs, nonce)
      if (captchaToken !== undefined) await this.#useCaptcha(change, [organizationId, 'captcha.used', formId, hash('sha256', captchaToken)])
      files = uploads?.seal(change, fileKeys) ?? []
      const kept = this.#submission(draft, taken.id, spam, files)
      if (spam.length === 0) countTaken(change, found, localized(await publicForms.definition(found, form.version), token?.language))
      if (spam.length === 0) meter(change, 'form_submissions', organizationId, form.projectId, nowMs)
      const submission = spam.length === 0 ? await followSubmission(database, change, organizationId, form, kept, nowMs) : kept
      insertSubmission(change, organizationId, submission)
      this.#keepFiles(change, organization, submission)
      const { fillMs } = submission
      const figures =
        spam.length > 0 ? [formNames.spam] : [...passed, formNames.submissions, ...(fillMs === null ? [] : [fillName(fillMs)])]
      countInForm(change, { organizationId, formId }, figures, nowMs)
      count(change, { organizationId, projectId: form.projectId }, [projectNames.formSubmission], nowMs)
      return taken
    })
    if (result === taken) uploads?.taken(files)
    return result
  }

  /** Counts the files toward the plan's storage limit. */
  #keepFiles(change: Transaction, organization: Organization, submission: FormSubmission): void {
    followFiles(change, organization.id, submission)
    const weight = weightOfFiles(submission)
    if (weight === 0) return
    const { formFileMebibytes: limit } = limitsOf(organization)
    const counter = storedFormFilesCounter(organization.id)
    change.add(counter, weight, limit === undefined ? undefined : limit * 2 ** 20)
    change.limits.set(keyName(pack(counter)), noRoom)
  }

  /** Returns the names of page counts that are not recorded yet. A browser without scripts reports no page before the submission. */
  #pagesPassed({ found, token, spam, evaluation }: Draft): readonly string[] {
    return token && spam.length === 0 ? this.#options.visits.fresh(found.stored.record, token.nonce, evaluation.pages) : []
  }

  /** Records the captcha token as used in the same write, because a provider accepts a token only once. */
  async #useCaptcha(change: Transaction, key: readonly Element[]): Promise<void> {
    if (await this.#options.database.kv.get(pack(key))) throw captchaFailed()
    const nowMs = this.#options.clock.now()
    change.setNew(key, encode(nowMs)).expire(nowMs + captchaTokenMs, key)
  }

  #submission(
    { found, version, visit, token, evaluation, definition, nowMs }: Draft,
    id: string,
    spam: readonly SpamReason[],
    files: readonly SubmissionFile[],
  ): FormSubmission {
    const { id: formId } = found.stored.record
    const { fields } = definition.schema
    const keys = new Set(fields.map(({ key }) => key))
    const agreed = fields.filter(({ key, type }) => type === 'consent' && evaluation.answers[key] === true)
    return {
      ...{ id, formId, version, status: spam.length > 0 ? 'spam' : 'new', files },
      answers: { ...evaluation.answers, ...Object.fromEntries(files.map(({ field, id: fileId }) => [field, fileId])) },
      consents: agreed.map(({ key, text = '' }) => ({ field: key, sha256: hash('sha256', text) })),
      spamReasons: spam,
      unknownKeys: Object.keys(visit.values).filter((key) => !keys.has(key) && !isReservedKey(key)).length,
      ...{ origin: visit.origin?.slice(0, 300) ?? null, ip: this.#addressOf(visit, formId, definition) },
      fillMs: token ? Math.max(0, nowMs - token.issuedAt) : null,
      ...{ tags: [], assignee: null, note: '', webhookDeliveryId: null, createdAt: nowMs, updatedAt: nowMs },
    }
  }

  /** Returns the address as the form stores it. The hash is stable within one form and cannot be reversed. */
  #addressOf({ remoteAddress }: Visit, formId: string, { settings: { store_ip: kept } }: Definition): string | null {
    if (kept === 'none' || remoteAddress === '') return null
    if (kept === 'full') return remoteAddress
    return this.#options.secrets
      .mac('form.address', Buffer.from(`${formId}/${remoteAddress}`))
      .toString('base64url')
      .slice(0, 22)
  }
}

/** Counts a submission that is not spam toward the limit of the latest version. */
function countTaken(change: Transaction, { organization, stored }: FoundForm, latest: Definition): void {
  const key = takenCounter(organization.id, stored.record.id)
  change.add(key, 1, latest.settings.max_submissions ?? undefined)
  change.limits.set(keyName(pack(key)), () => closed(latest))
}

/** Returns a digest of the answers and files, without token and captcha. */
function digestOf({ values, uploads }: Visit): string {
  const { [fillTimeKey]: _token, [captchaKey]: _captcha, ...answers } = values
  const files = uploads?.all.map(({ key, sha256 }) => [`file ${key}`, sha256] as const) ?? []
  const sorted = [...Object.entries(answers), ...files].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify(sorted))
}

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '' && value !== false

/** Returns the refusal of answers, with the problems by field key. */
export function malformed(
  problems: Evaluation['problems'] | Readonly<Record<string, readonly object[]>>,
  more: Readonly<Record<string, unknown>> = {},
): Refusal {
  const names = Object.keys(problems)
  const message =
    names.length === 0 ? 'The submission cannot be parsed.' : `Some answers are missing or wrong: ${names.slice(0, 5).join(', ')}.`
  return new Refusal('malformed_submission', message, { details: { fields: problems, ...more } })
}

const noRoom = (): Refusal =>
  new Refusal('quota_exhausted', 'The storage for files is full. Send the form without files, or try again later.', {
    nextAction: 'retry_later',
    retryAfterSeconds: 3600,
  })

const closed = ({ settings }: Definition): Refusal =>
  new Refusal('form_not_found', settings.closed_message || 'This form takes no more answers.', { details: { closed: true } })
