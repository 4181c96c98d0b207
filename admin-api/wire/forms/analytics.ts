/** Statistics of a form on the wire. */
import * as z from 'zod'
import type { FormReport, ListedReport, PageFigures } from '#core/forms/analytics/analytics.ts'
import { encoderOf } from '../fields/codec.ts'
import { timeInput, toWireTime, wireTime } from '../fields/time.ts'

export const analyticsSpan = {
  from: timeInput.optional().meta({ description: 'Start, rounded down to a whole day (UTC). Defaults to 30 days before `to`.' }),
  to: timeInput.optional().meta({ description: 'End, rounded up to a whole day (UTC). Defaults to the end of today.' }),
}
export const analyticsInput = z.strictObject(analyticsSpan)

const figures = {
  views: z.int().meta({ description: 'Number of times the form was displayed.' }),
  starts: z.int().meta({ description: 'Number of visitors who started to fill it in.' }),
  submissions: z.int().meta({ description: 'Without spam.' }),
  spam: z.int(),
}

const day = z.object({ at: wireTime, ...figures })

const shape = z
  .object({
    form_id: z.string(),
    from: wireTime,
    to: wireTime,
    totals: z.object({
      ...figures,
      median_fill_ms: z.int().nullable().meta({
        description: 'Median time from loading the form to the submission; may be up to 25 % too high.',
      }),
    }),
    pages: z.array(
      z.object({
        page: z.int(),
        title: z.string().nullable(),
        reached: z.int().meta({ description: 'Visitors who reached the page.' }),
        left: z.int().meta({ description: 'Visitors who left on this page.' }),
      }),
    ),
    days: z.array(day),
  })
  .meta({ id: 'FormAnalytics' })

const listedShape = z
  .object({ form_id: z.string(), from: wireTime, to: wireTime, totals: z.object(figures), days: z.array(day) })
  .meta({ id: 'FormFigures' })

const daysOf = (days: FormReport['days']) => days.map(({ at, ...of }) => ({ at: toWireTime(at), ...of }))

export const formFigures = encoderOf(listedShape, ({ formId, from, to, totals, days }: ListedReport) => ({
  ...{ form_id: formId, from: toWireTime(from), to: toWireTime(to) },
  ...{ totals: { ...totals }, days: daysOf(days) },
}))

export const formAnalytics = encoderOf(shape, ({ formId, from, to, totals, medianFillMs, pages, days }: FormReport) => ({
  ...{ form_id: formId, from: toWireTime(from), to: toWireTime(to) },
  totals: { ...totals, median_fill_ms: medianFillMs },
  pages: pages.map((page: PageFigures) => ({ ...page })),
  days: daysOf(days),
}))
