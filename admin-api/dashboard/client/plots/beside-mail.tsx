/** Plots for webhooks, suppressions and SMTP. */
import type { JSX } from 'preact'
import { Plot } from '../insights/plot.tsx'
import type { LookName, Series } from '../insights/drawing.ts'
import { counted, sumsBefore, summary, timesOf, type Figures, type PlotOf, type Point } from '../insights/plots.tsx'
import { WithInsight } from '../insights/reading.tsx'
import { stepName } from '../insights/time-range.ts'
import { number } from '../parts/time.ts'
import type { SmtpInsight } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './plots-texts.ts'

export function WebhookPlot({ span }: PlotOf): JSX.Element {
  const w = allTexts()
  return (
    <WithInsight route="/v1/insights/webhooks" span={span}>
      {({ now, before }) => {
        const series = counted(now, [
          ['succeeded', w.succeeded, 'relayed', 'bar'],
          ['failed', w.failedAttempts, 'striped', 'bar'],
          ['parked', w.parkedEvents, 'bad', 'diamond'],
        ])
        const data = {
          ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: number },
          before: sumsBefore(before, ['succeeded', 'failed']),
        }
        return (
          <Plot
            {...{
              data,
              name: 'webhooks',
              title: w.webhookPlot,
              note: w.attemptsPer({ step: stepName(span.stepMs) }),
              summary: summary(series),
            }}
            explore={{ to: '/settings/webhooks', says: texts().showWebhooks }}
          />
        )
      }}
    </WithInsight>
  )
}

const sources = ['bounce', 'complaint', 'unsubscribe', 'import', 'manual'] as const

export function SuppressionPlot({ span }: PlotOf): JSX.Element {
  const w = allTexts()
  const labels = [w.sourceBounce, w.sourceComplaint, w.sourceUnsubscribe, w.sourceImport, w.sourceManual]
  const looks = ['striped', 'badNetted', 'hatched', 'dotted', 'plain'] as const
  return (
    <WithInsight route="/v1/insights/suppressions" span={span}>
      {({ now, before }) => {
        const fields = sources.map((source, at) => [source, labels[at] ?? source, looks[at] ?? 'plain', 'bar', { source }] as const)
        const series = counted(now as Figures<Point>, fields)
        const data = {
          ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: number },
          before: sumsBefore(before as Figures<Point> | undefined, sources),
        }
        return (
          <Plot
            {...{
              data,
              name: 'suppressions',
              title: w.suppressionPlot,
              note: w.newPer({ step: stepName(span.stepMs) }),
              summary: summary(series),
            }}
            explore={{ to: '/recipients/suppressions', says: texts().showSuppressions }}
          />
        )
      }}
    </WithInsight>
  )
}

/** Looks for the most frequent reasons, each with a separate series. */
const reasonLooks = ['striped', 'netted', 'speckled'] as const satisfies readonly LookName[]

/** Returns series of the reasons for refused commands after the login. */
function reasonsOf({ points, totals }: SmtpInsight): readonly Series[] {
  const codes = Object.entries(totals.refused_by_code).toSorted(([, a], [, b]) => b - a)
  const own = codes.slice(0, reasonLooks.length).map(([code, times], at): Series => ({
    ...{ label: code, look: reasonLooks[at] ?? 'plain', kind: 'bar', total: number(times) },
    values: points.map((point) => point.refused_by_code[code] ?? 0),
  }))
  const named = codes.slice(0, reasonLooks.length).map(([code]) => code)
  const rest = codes.slice(reasonLooks.length)
  if (rest.length === 0) return own
  const othersOf = (by: Readonly<Record<string, number>>): number =>
    Object.entries(by).reduce((sum, [code, times]) => sum + (named.includes(code) ? 0 : times), 0)
  const others = { values: points.map((point) => othersOf(point.refused_by_code)), total: number(othersOf(totals.refused_by_code)) }
  return [...own, { label: texts().otherReasons, look: 'plain', kind: 'bar', ...others }]
}

export function SmtpPlot({ span }: PlotOf): JSX.Element {
  const w = allTexts()
  return (
    <WithInsight route="/v1/insights/smtp" span={span}>
      {({ now, before }) => {
        const { refused_by_code: codes } = now.totals
        const series = [
          ...counted(now as unknown as Figures<Point>, [
            ['logins', w.smtpSessions, 'relayed', 'bar'],
            ['refused_logins', w.refusedLogins, 'hatched', 'bar'],
          ]),
          ...reasonsOf(now),
        ]
        const data = {
          ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: number },
          before: sumsBefore(before, ['logins', 'refused_logins', 'refused']),
        }
        return (
          <div class="plot-box">
            <Plot
              {...{ data, name: 'smtp', title: w.smtpPlot, note: w.perStep({ step: stepName(span.stepMs) }), summary: summary(series) }}
              explore={{ to: '/settings/smtp-logins', says: texts().showLogins }}
            />
            <Reasons codes={codes} />
          </div>
        )
      }}
    </WithInsight>
  )
}

/** List of refused commands by code, the most frequent first. */
function Reasons({ codes }: { readonly codes: Readonly<Record<string, number>> }): JSX.Element | null {
  const all = Object.entries(codes).toSorted(([, a], [, b]) => b - a)
  if (all.length <= reasonLooks.length) return null
  return (
    <ul class="plot-reasons">
      {all.map(([code, times]) => (
        <li key={code}>
          <code>{code}</code> <b>{number(times)}</b>
        </li>
      ))}
    </ul>
  )
}
