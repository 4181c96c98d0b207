/** Figures of a form over time: daily counts, and the pages where visitors leave. */
import type { Page } from '#store/database.ts'
import type { Counts } from '#store/tally.ts'
import { byProject, listReachable, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
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
  /** Visitors who reached the page. */
  readonly reached: number
  /** Visitors who reached this page and no later page. */
  readonly left: number
}

export interface FormReport {
  readonly formId: string
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly totals: FormFigures
  /** Of submissions that are not spam. */
  readonly medianFillMs: number | null
  /** Pages of the published or latest version. */
  readonly pages: readonly PageFigures[]
  /** All days in order, including days without activity. */
  readonly days: readonly (FormFigures & { readonly at: number })[]
}

/** The report of one form in a list. */
export type ListedReport = Omit<FormReport, 'pages' | 'medianFillMs'>

interface Asked {
  readonly from?: number | undefined
  readonly to?: number | undefined
}

const standardDays = 30
const maxDays = 366
/** Maximum period of a list of reports. */
const maxListedDays = 31

export class FormAnalytics {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * Returns the figures of whole UTC days, by default the last 30. Throws `not_found`, and `validation_failed` for an empty or too long
   * period.
   */
  async get(principal: Principal, id: string, asked: Asked): Promise<FormReport> {
    const { database } = this.#core
    const { record: form } = await must(database, forms, principal, id)
    const span = this.#span(asked, maxDays)
    const byDay = await formDays(database, principal.organizationId, id, span)
    const sum = sumOf(byDay)
    const report = reportOf(id, span, byDay)
    return { ...report, medianFillMs: medianFillMs(sum), pages: await this.#pages(principal, form, sum, report.totals) }
  }

  /** Lists reports of the forms within the caller's reach, in the order of the form list. Throws the errors of `get`. */
  async list(principal: Principal, { from, to, ...query }: PageQuery & OfProject & Asked): Promise<Page<ListedReport>> {
    const { database } = this.#core
    const span = this.#span({ from, to }, maxListedDays)
    const { rows, nextCursor } = await listReachable(this.#core, forms, principal, query, byProject)
    const days = await Promise.all(rows.map(({ id }) => formDays(database, principal.organizationId, id, span)))
    return { rows: rows.map(({ id }, at) => reportOf(id, span, days[at] ?? new Map())), nextCursor }
  }

  #span({ from, to }: Asked, most: number): Span {
    const end = dayOfMs((to ?? this.#core.clock.now() + 1) - 1) + dayMs
    const start = from === undefined ? end - standardDays * dayMs : dayOfMs(from)
    if (start >= end) throw invalid([{ path: 'from', message: 'must be earlier than to' }])
    if (end - start > most * dayMs) throw invalid([{ path: 'from', message: `must be at most ${most} days before to` }])
    return { from: start, to: end }
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

interface Span {
  readonly from: number
  readonly to: number
}

function reportOf(formId: string, { from, to }: Span, byDay: ReadonlyMap<number, Counts>): ListedReport {
  const days = Array.from({ length: (to - from) / dayMs }, (_, at) => from + at * dayMs)
  const totals = figuresOf(sumOf(byDay))
  return { formId, from, to, totals, days: days.map((at) => ({ at, ...figuresOf(byDay.get(at) ?? new Map()) })) }
}

const figuresOf = (counts: Counts): FormFigures => ({
  views: counts.get(formNames.views) ?? 0,
  starts: counts.get(formNames.starts) ?? 0,
  submissions: counts.get(formNames.submissions) ?? 0,
  spam: counts.get(formNames.spam) ?? 0,
})
