/**
 * Counts views, starts and reached pages of forms. Each fill-time token counts once per page. Only the latest tokens are remembered, in
 * memory, so visitors can be counted twice after a restart.
 */
import type { Core } from '../../core.ts'
import { clientNetwork } from '../../access/client-network.ts'
import type { LateCounts } from '../../insights/late-counts.ts'
import { RecentMap } from '../../recent-map.ts'
import { RateWindow } from '../../visitors/rate-window.ts'
import { pagesOf } from '../definition/layout.ts'
import { forms, type Form } from '../form.ts'
import { maxFillMs, readFillTimeToken } from '../submissions/fill-time-token.ts'
import type { FoundForm, PublicForms } from '../submissions/public-forms.ts'
import { countInForm, formNames } from './form-counts.ts'

export interface FormVisitsOptions extends Core {
  readonly publicForms: PublicForms
  readonly lateCounts: Pick<LateCounts, 'countIn'>
}

/** The page that a visitor reached. */
export interface Progress {
  readonly fillTimeToken: string
  /** Page number, starting at 1. */
  readonly page: number
  readonly remoteAddress: string
}

const maxRemembered = 20_000
const tries = {
  name: 'progress of a form',
  windowMs: 60_000,
  most: 120,
  message: 'Progress of this form was sent too often from your network; wait a minute.',
}

export class FormVisits {
  readonly #options: FormVisitsOptions
  /** Numbers of counted pages by form and token. */
  readonly #pages = new RecentMap<string, ReadonlySet<number>>(maxRemembered)
  readonly #tries: RateWindow

  constructor(options: FormVisitsOptions) {
    this.#options = options
    this.#tries = new RateWindow(options, tries)
  }

  /** Counts a view of the form, within a second. */
  viewed(found: FoundForm): void {
    this.#count(found, [formNames.views])
  }

  /**
   * Counts the reached page. Ignores an invalid token and a page that does not exist. Throws `form_not_found` and `rate_limit_exceeded`.
   */
  async progressed(publicId: string, { fillTimeToken, page, remoteAddress }: Progress): Promise<void> {
    const { publicForms, secrets, clock } = this.#options
    const found = await publicForms.find(publicId)
    const { record: form } = found.stored
    await this.#tries.take(`${form.id} ${clientNetwork(remoteAddress)}`)
    const token = readFillTimeToken(secrets, form.id, fillTimeToken)
    if (!token || token.version > form.version || clock.now() - token.issuedAt > maxFillMs) return
    const { schema } = await publicForms.definition(found, token.version)
    if (page <= pagesOf(schema).length) this.#count(found, this.fresh(form, token.nonce, [page]))
  }

  /** Returns the count names of pages that were not counted for the token. Adds the start for the first page of a token. */
  fresh({ id }: Form, nonce: string, pages: Iterable<number>): readonly string[] {
    const key = `${id} ${nonce}`
    const known = this.#pages.get(key) ?? new Set<number>()
    const added = [...pages].filter((page) => !known.has(page))
    if (added.length === 0) return []
    this.#pages.set(key, new Set([...known, ...added]))
    return [...(known.size === 0 ? [formNames.starts] : []), ...added.map((page) => `${formNames.page}${page}`)]
  }

  #count({ organization, stored: { record: form } }: FoundForm, names: readonly string[]): void {
    const { database, lateCounts } = this.#options
    const [organizationId, formId] = [organization.id, form.id]
    for (const name of names)
      lateCounts.countIn(formId, { organizationId, projectId: form.projectId }, name, async (change, counted, nowMs, times) => {
        const isThere = (await database.get(forms, { organizationId }, formId)) !== undefined // false after a deletion
        if (isThere) countInForm(change, { organizationId, formId }, counted, nowMs, times)
      })
  }
}
