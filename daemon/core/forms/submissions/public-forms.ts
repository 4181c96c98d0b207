/** Published forms, as visitors find them by their public ids. Spec "Public forms". */
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import { RecentMap } from '../../recent-map.ts'
import { Refusal } from '../../refusals.ts'
import type { Organization } from '../../tenancy/organization.ts'
import { takesFiles } from '../uploads/uploads.ts'
import { definitionLimits, honeypotKey, type Definition } from '../definition/definition.ts'
import { publicDefinition, type PublicDefinition } from '../definition/public-definition.ts'
import { localized } from '../definition/translations.ts'
import { forms, formVersions, versionId, type Form } from '../form.ts'
import { isGood, newFillTimeToken, readFillTimeToken, tokenAgain, tokenInstead, type FillTimeToken } from './fill-time-token.ts'
import { withoutUnsigned } from './signed-values.ts'
import { takenCounter } from './submission.ts'
import { pack } from '#store/tuple.ts'

/** A form that visitors get. */
export interface FoundForm {
  readonly organization: Organization
  readonly stored: Stored<Form>
}

export interface PublicForm extends PublicDefinition {
  readonly publicId: string
  readonly version: number
  /** Its own language and those of its translations. */
  readonly languages: readonly string[]
  /** Whose form it is. */
  readonly organizationName: string
  readonly allowedOrigins: readonly string[]
  readonly honeypotKey: string
  readonly fillTimeToken: string
  readonly captcha: Definition['settings']['captcha']
  readonly uploads: { readonly enabled: boolean; readonly maxFiles: number; readonly maxBytes: number }
  /** It takes no answers any more. */
  readonly closed: boolean
  /** The visitor began with an earlier version, which is not taken any more. */
  readonly isRenewed: boolean
}

/** One has at most 256 KiB, and most have a few. */
const maxDefinitions = 100

export class PublicForms {
  readonly #core: Core
  readonly #definitions = new RecentMap<string, Definition>(maxDefinitions)
  readonly #onShown: (found: FoundForm) => void

  /** `onShown` is notified of each form that a visitor begins with; must not throw. */
  constructor(core: Core, onShown: (found: FoundForm) => void) {
    this.#core = core
    this.#onShown = onShown
  }

  /** For a visitor who begins, which counts as a view; in the language that is wished for. Throws `form_not_found`. */
  async show(publicId: string, language: string | undefined): Promise<PublicForm> {
    const found = await this.find(publicId)
    const form = await this.#form(found, language, undefined)
    this.#onShown(found)
    return form
  }

  /**
   * In the language that is wished for. Where the given token is still good, in its version and with it: who began with a version may
   * end with it. Throws `form_not_found`.
   */
  async read(publicId: string, language: string | undefined, givenToken?: string): Promise<PublicForm> {
    const found = await this.find(publicId)
    const token = givenToken === undefined ? undefined : readFillTimeToken(this.#core.secrets, found.stored.record.id, givenToken)
    return this.#form(found, language, token)
  }

  /** Throws `form_not_found` alike for what is not there, not published, or of an organization for which forms are switched off. */
  async find(publicId: string): Promise<FoundForm> {
    const { database, policies } = this.#core
    const found = await database.lookup(forms, 'public', [publicId])
    if (found?.record.status !== 'published') throw noForm()
    const { organizationId, ...stored } = found
    const { organization, deleted } = await policies.of(organizationId)
    const { projectId } = stored.record
    if (organization.deletedAt !== undefined || deleted.has(projectId) || !isSwitchedOn(organization, 'forms')) throw noForm()
    return { organization, stored }
  }

  /** Whatever version is shown, the latest one says who may send the form and until when. */
  async #form(found: FoundForm, language: string | undefined, token: FillTimeToken | undefined): Promise<PublicForm> {
    const { publicId, id, version: latest } = found.stored.record
    const nowMs = this.#core.clock.now()
    const { settings } = await this.definition(found, latest)
    const closed = await this.isClosed(found, settings)
    const goesOn = token !== undefined && isGood(token, latest, nowMs)
    const version = goesOn && !closed ? token.version : latest
    const definition = await this.definition(found, version)
    const languages = [...new Set([definition.locale, ...Object.keys(definition.translations)])]
    const shown = localized(definition, language)
    const form = { id, version, language: shown.locale === definition.locale ? undefined : shown.locale }
    return {
      ...publicDefinition(shown),
      ...{ organizationName: found.organization.name, allowedOrigins: settings.allowed_origins },
      ...{ publicId, version, languages, honeypotKey, captcha: settings.captcha, closed },
      isRenewed: token !== undefined && token.version !== version,
      fillTimeToken: this.#tokenOf(form, token, { goesOn, leastSeconds: settings.min_fill_seconds, nowMs }),
      uploads: { enabled: takesFiles(found.organization), maxFiles: definitionLimits.files, maxBytes: definitionLimits.fileBytes },
    }
  }

  #tokenOf(
    form: Parameters<typeof newFillTimeToken>[1],
    token: FillTimeToken | undefined,
    { goesOn, leastSeconds, nowMs }: { readonly goesOn: boolean; readonly leastSeconds: number; readonly nowMs: number },
  ): string {
    const { secrets } = this.#core
    if (!token) return newFillTimeToken(secrets, form, nowMs)
    return goesOn ? tokenAgain(secrets, form, token) : tokenInstead(secrets, form, leastSeconds, nowMs)
  }

  /** What the address of a page fills in, without what must be signed and is not. */
  async trusted(publicId: string, form: PublicForm, values: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    const { stored } = await this.find(publicId)
    return withoutUnsigned(this.#core.secrets, stored.record.id, form, values)
  }

  /** Versions never change, so that those of the latest forms are kept. */
  async definition({ organization, stored }: FoundForm, version: number): Promise<Definition> {
    const id = versionId(stored.record.id, version)
    const known = this.#definitions.get(id)
    if (known) return known
    const found = await this.#core.database.get(formVersions, { organizationId: organization.id }, id)
    if (!found) throw noForm()
    this.#definitions.set(id, found.record.definition)
    return found.record.definition
  }

  /** Whether its time is over, or it has had as many submissions as it takes. */
  async isClosed({ organization, stored }: FoundForm, settings: Definition['settings']): Promise<boolean> {
    const { database, clock } = this.#core
    if (settings.close_at !== null && Date.parse(settings.close_at) <= clock.now()) return true
    if (settings.max_submissions === null) return false
    return (await database.kv.counter(pack(takenCounter(organization.id, stored.record.id)))) >= settings.max_submissions
  }
}

export const noForm = (): Refusal => new Refusal('form_not_found', 'No form is published at this address; check its id.')

/** Throws `origin_not_allowed` for a page that the form does not name; it names none for all, and pages of this service always may. */
export function requireAllowedOrigin(allowed: readonly string[], ownOrigin: string, origin: string | undefined): void {
  if (allowed.length === 0 || origin === ownOrigin || (origin !== undefined && allowed.includes(origin))) return
  const message = 'This form is not for this page; the owner of the form can add the origin of the page.'
  throw new Refusal('origin_not_allowed', message, { details: { allowed_origins: allowed } })
}
