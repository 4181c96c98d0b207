/** How a form does over time: what was counted at it, day by day, and where visitors leave it. */
import type { Counts } from '#store/tally.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { invalid } from '../../refusals.ts'
import { must } from '../../writes/transact.ts'
import { pagesOf } from '../definition/layout.ts'
import { forms, formVersions, versionId, type Form } from '../form.ts'
import { dayMs, dayOfMs, formDays, formNames, medianFillMs, sumOf } from './form-counts.ts'

export interface FormFigures {
  readonly views: number
  readonly starts: number
  readonly submissions: number
  readonly spam: number
}

export interface PageFigures {
  readonly page: number
  readonly title: string | null
  /** Visitors who came to it. */
  readonly reached: number
  /** Of them, those who came no further. */
  readonly left: number
}

export interface FormReport {
  readonly formId: string
  readonly from: number
  /** Not included. */
  readonly to: number
  readonly totals: FormFigures
  /** Of submissions that are no spam. */
  readonly medianFillMs: number | null
  /** Of the version that is published or was last. */
  readonly pages: readonly PageFigures[]
  /** In order, with those on which nothing happened. */
  readonly days: readonly (FormFigures & { readonly at: number })[]
}

const standardDays = 30
const maxDays = 366

export class FormAnalytics {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Whole days of UTC, by default the last 30. Throws `not_found`, and `validation_failed` for a span that is none or too long. */
  async get(
    principal: Principal,
    id: string,
    { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
  ): Promise<FormReport> {
    const { database, clock } = this.#core
    const { record: form } = await must(database, forms, principal, id)
    const end = dayOfMs((to ?? clock.now() + 1) - 1) + dayMs
    const start = from === undefined ? end - standardDays * dayMs : dayOfMs(from)
    if (start >= end) throw invalid([{ path: 'from', message: 'must be earlier than to' }])
    if (end - start > maxDays * dayMs) throw invalid([{ path: 'from', message: `must be at most ${maxDays} days before to` }])
    const byDay = await formDays(database, principal.organizationId, id, { from: start, to: end })
    const sum = sumOf(byDay)
    const totals = figuresOf(sum)
    const days = Array.from({ length: (end - start) / dayMs }, (_, at) => start + at * dayMs)
    return {
      ...{ formId: id, from: start, to: end, totals, medianFillMs: medianFillMs(sum) },
      pages: await this.#pages(principal, form, sum, totals),
      days: days.map((at) => ({ at, ...figuresOf(byDay.get(at) ?? new Map()) })),
    }
  }

  async #pages({ organizationId }: Principal, { id, version }: Form, sum: Counts, { submissions }: FormFigures): Promise<PageFigures[]> {
    const stored = version === 0 ? undefined : await this.#core.database.get(formVersions, { organizationId }, versionId(id, version))
    const pages = stored ? pagesOf(stored.record.definition.schema) : []
    const reached = pages.map(({ number }) => sum.get(`${formNames.page}${number}`) ?? 0)
    return pages.map(({ number, start }, at) => {
      const here = reached[at] ?? 0
      const further = Math.max(submissions, ...reached.slice(at + 1))
      return { page: number, title: start?.title ?? null, reached: here, left: Math.max(0, here - further) }
    })
  }
}

const figuresOf = (counts: Counts): FormFigures => ({
  views: counts.get(formNames.views) ?? 0,
  starts: counts.get(formNames.starts) ?? 0,
  submissions: counts.get(formNames.submissions) ?? 0,
  spam: counts.get(formNames.spam) ?? 0,
})
