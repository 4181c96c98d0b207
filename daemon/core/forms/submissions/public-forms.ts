/** Finds published forms by their public ids. Spec "Public forms". */
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

/** A published form with its organization. */
export interface FoundForm {
  readonly organization: Organization
  readonly stored: Stored<Form>
}

export interface PublicForm extends PublicDefinition {
  readonly publicId: string
  readonly version: number
  /** The form's own language and the languages of its translations. */
  readonly languages: readonly string[]
  /** Name of the organization that owns the form. */
  readonly organizationName: string
  readonly allowedOrigins: readonly string[]
  readonly honeypotKey: string
  readonly fillTimeToken: string
  readonly captcha: Definition['settings']['captcha']
  readonly uploads: { readonly enabled: boolean; readonly maxFiles: number; readonly maxBytes: number }
  /** The form no longer accepts submissions. */
  readonly closed: boolean
  /** The visitor started with an earlier version that is no longer accepted. */
  readonly isRenewed: boolean
}

/** Maximum number of cached definitions; each has at most 256 KiB, and most have a few. */
const maxDefinitions = 100

export class PublicForms {
  readonly #core: Core
  readonly #definitions = new RecentMap<string, Definition>(maxDefinitions)
  readonly #onShown: (found: FoundForm) => void

  /** `onShown` is called for each form that a visitor starts; must not throw. */
  constructor(core: Core, onShown: (found: FoundForm) => void) {
    this.#core = core
    this.#onShown = onShown
  }

  /** Returns the form to a new visitor in the requested language, and counts a view. Throws `form_not_found`. */
  async show(publicId: string, language: string | undefined): Promise<PublicForm> {
    const found = await this.find(publicId)
    const form = await this.#form(found, language, undefined)
    this.#onShown(found)
    return form
  }

  /**
   * Returns the form in the requested language. With a valid token, returns the token's version and the same token, so that visitors can
   * finish the version that they started. Throws `form_not_found`.
   */
  async read(publicId: string, language: string | undefined, givenToken?: string): Promise<PublicForm> {
    const found = await this.find(publicId)
    const token = givenToken === undefined ? undefined : readFillTimeToken(this.#core.secrets, found.stored.record.id, givenToken)
    return this.#form(found, language, token)
  }

  /** Throws `form_not_found` unless the form is published, its project exists, and its organization has forms enabled. */
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

  /** Returns the form. The latest version determines the allowed origins and the closing time of every version. */
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

  /** Returns the values from a URL, without values that need a signature and have none. */
  async trusted(publicId: string, form: PublicForm, values: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    const { stored } = await this.find(publicId)
    return withoutUnsigned(this.#core.secrets, stored.record.id, form, values)
  }

  /** Returns the definition of a version, from the cache if possible; versions never change. */
  async definition({ organization, stored }: FoundForm, version: number): Promise<Definition> {
    const id = versionId(stored.record.id, version)
    const known = this.#definitions.get(id)
    if (known) return known
    const found = await this.#core.database.get(formVersions, { organizationId: organization.id }, id)
    if (!found) throw noForm()
    this.#definitions.set(id, found.record.definition)
    return found.record.definition
  }

  /** Whether the closing time has passed or the maximum number of submissions is reached. */
  async isClosed({ organization, stored }: FoundForm, settings: Definition['settings']): Promise<boolean> {
    const { database, clock } = this.#core
    if (settings.close_at !== null && Date.parse(settings.close_at) <= clock.now()) return true
    if (settings.max_submissions === null) return false
    return (await database.kv.counter(pack(takenCounter(organization.id, stored.record.id)))) >= settings.max_submissions
  }
}

export const noForm = (): Refusal => new Refusal('form_not_found', 'No form is published at this address; check its id.')

/**
 * Throws `origin_not_allowed` for an origin that is not in the form's list. An empty list allows every origin; pages of this service are
 * always allowed.
 */
export function requireAllowedOrigin(allowed: readonly string[], ownOrigin: string, origin: string | undefined): void {
  if (allowed.length === 0 || origin === ownOrigin || (origin !== undefined && allowed.includes(origin))) return
  const message = 'This form does not allow the origin of this page. Ask the owner of the form to add it.'
  throw new Refusal('origin_not_allowed', message, { details: { allowed_origins: allowed } })
}
