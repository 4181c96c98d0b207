/** Delivery results of recipients by destination and by domain, with an optional comparison to the previous period. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { link, query } from '../app/location.ts'
import { rate } from '../health/rate.ts'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import type { Destination } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import type { Shape } from './drawing.ts'
import { savePng, saveRows } from './plot-files.ts'
import { Tool } from './plot.tsx'
import { useEarlier, useInsight } from './reading.tsx'
import { isCompared, type TimeSpan } from './time-range.ts'

export interface BreakdownProps {
  readonly span: TimeSpan
  readonly destinations: readonly Destination[]
}

interface Fates {
  readonly taken: number
  readonly failed: number
  readonly delivered: number
  readonly bounced: number
  readonly complained: number
}

interface SharesProps {
  readonly title: string
  readonly first: string
  readonly name: string
  readonly rows: readonly Row[]
  /** Results of the previous period by row key. */
  readonly before: ReadonlyMap<string, Fates>
}

type Row = Fates & {
  /** Unique per row. */
  readonly key: string
  readonly subject: string
  /** URL of the matching messages. */
  readonly href?: string | undefined
}

/** Maximum number of rows in a response. For domains, this is the maximum that the service counts separately. */
const most = 200
/** Maximum number of destinations with names. Further ones appear by id. */
const mostListed = 1000

const fates = ['taken', 'delivered', 'bounced', 'complained'] as const
const nothing: Fates = { taken: 0, failed: 0, delivered: 0, bounced: 0, complained: 0 }
const allOf = ({ taken, failed }: Fates = nothing): number => taken + failed
const countsOf = (row: Fates): readonly string[] => [allOf(row), ...fates.map((fate) => row[fate])].map(String)
const share = (row: Fates, fate: (typeof fates)[number]): string => rate(row[fate], allOf(row), row[fate] === 0 ? 0 : 1)

/** A value, and the value of the previous period below it. */
const Cell = ({ now, before }: { readonly now: string; readonly before: string | undefined }): JSX.Element => (
  <td class="num">
    {now}
    {before !== undefined && (
      <small class="before" title={texts().periodBefore}>
        {before}
      </small>
    )}
  </td>
)

/** Returns the parts of a bar: accepted, accepted but bounced later, and failed at once. */
function partsOf(row: Row | Fates) {
  const late = Math.min(row.taken, Math.max(0, row.bounced - row.failed))
  return [
    { some: row.taken - late, look: 'relayed', fill: '--p-relayed', isTall: false },
    { some: late, look: 'bad', fill: '--p-bad', isTall: true },
    { some: row.failed, look: 'striped', fill: '--p-refused', isTall: false },
  ] as const
}

const picture = { width: 960, side: 8, bar: 480, row: 36 } as const

/** Returns the shapes of each row: name, values and bar. */
const shapesOf = (rows: readonly Row[]): readonly Shape[] =>
  rows.flatMap((row, index): readonly Shape[] => {
    const [all, top] = [allOf(row), index * picture.row]
    const w = texts()
    const said = [number(all), `${w.takenByProvider} ${share(row, 'taken')}`, `${w.bounced} ${share(row, 'bounced')}`]
    let x: number = picture.side
    const bars = partsOf(row).flatMap(({ some, look, isTall }): readonly Shape[] => {
      const [at, width] = [x, all === 0 ? 0 : (some / all) * picture.bar]
      x += width
      return width === 0 ? [] : [{ kind: 'bar', look, x: at, y: top + (isTall ? 16 : 18), width, height: isTall ? 10 : 8 }]
    })
    return [
      { kind: 'text', look: 'plain', x: picture.side, y: top + 12, text: `${plain(row.subject)}  ${said.join(' · ')}`, anchor: 'start' },
      ...bars,
    ]
  })

const barWidth = 160
function ShareBar({ row, label }: { readonly row: Fates; readonly label: string }): JSX.Element {
  const all = allOf(row)
  let x = 0
  return (
    <svg class="share-bar" viewBox={`0 0 ${String(barWidth)} 10`} preserveAspectRatio="none" role="img" aria-label={label}>
      <rect y={9} width={barWidth} height={1} fill="var(--line-strong)" />
      {partsOf(row).map(({ some, fill, isTall }) => {
        const [at, width] = [x, all === 0 ? 0 : (some / all) * barWidth]
        x += width
        return width > 0 && <rect key={fill} x={at} y={isTall ? 0 : 2} width={width} height={isTall ? 10 : 8} fill={`var(${fill})`} />
      })}
    </svg>
  )
}

/** Table of recipients and shares per row. */
function Shares({ title, first, name, rows, before }: SharesProps): JSX.Element {
  const w = texts()
  const id = useId()
  const compared = isCompared(query.value)
  const head = [first, w.recipients, w.takenByProvider, w.deliveredReported, w.bounced, w.complained]
  const csv = [
    [...head, ...(compared ? head.slice(1).map((label) => `${label} (${w.periodBefore})`) : [])],
    ...rows.map((row) => [row.subject, ...countsOf(row), ...(compared ? countsOf(before.get(row.key) ?? nothing) : [])]),
  ]
  const png = (): Promise<void> =>
    savePng({ shapes: shapesOf(rows), width: picture.width, height: rows.length * picture.row + 12, title, name })
  return (
    <section class="plot wide" aria-labelledby={id}>
      <div class="plot-head">
        <h2 id={id}>{title}</h2>
        <span class="plot-tools">
          <Tool label={`CSV: ${title}`} text="CSV" onClick={() => void saveRows(csv, name)} />
          <Tool label={`PNG: ${title}`} text="PNG" onClick={() => void png()} />
        </span>
      </div>
      {rows.length === 0 ? (
        <p class="faint plot-nothing">{w.nothingCounted}</p>
      ) : (
        <div class="plot-table" tabIndex={0} role="region" aria-label={`${w.table}: ${title}`}>
          <table class="plot-numbers">
            <thead>
              <tr>
                {head.map((label, at) => (
                  <>
                    <th key={label} scope="col" class={at === 0 ? '' : 'num'}>
                      {label}
                    </th>
                    {at === 0 && <th scope="col">{w.shares}</th>}
                  </>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.key}>
                  <th scope="row">
                    {row.href === undefined ? (
                      <SafeText text={row.subject} />
                    ) : (
                      <a href={row.href}>
                        <SafeText text={row.subject} />
                      </a>
                    )}
                  </th>
                  <td>
                    <ShareBar row={row} label={`${w.takenByProvider} ${share(row, 'taken')}, ${w.bounced} ${share(row, 'bounced')}`} />
                  </td>
                  <Cell now={number(row.taken + row.failed)} before={compared ? number(allOf(before.get(row.key))) : undefined} />
                  {fates.map((fate) => (
                    <Cell key={fate} now={share(row, fate)} before={compared ? share(before.get(row.key) ?? nothing, fate) : undefined} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

/** Returns the URL of the messages of the period. */
const traces = ({ from, to }: TimeSpan, filter: Readonly<Record<string, string>>): string =>
  link('/traces', { ...filter, outcome: 'relayed', since: new Date(from).toISOString(), until: new Date(to).toISOString() })

export function ByDestination({ span, destinations }: BreakdownProps): JSX.Element {
  const w = texts()
  const read = useInsight('/v1/insights/destinations', span, { first: most })
  const earlier = useEarlier('/v1/insights/destinations', span, most)
  const unknown = (id: string): string => (destinations.length < mostListed ? w.deletedDestination : id)
  return (
    <Show read={read} reload={read.reload} failure={w.insightFailed} rows={3}>
      {({ data }) => (
        <Shares
          {...{ title: w.byDestination, first: w.destination, name: 'destinations' }}
          rows={data.map(({ destination_id: id, totals }) => ({
            ...totals,
            key: id,
            subject: destinations.find((one) => one.id === id)?.name ?? unknown(id),
            href: traces(span, { destination_id: id }),
          }))}
          before={new Map(earlier?.data.map(({ destination_id: id, totals }) => [id, totals]))}
        />
      )}
    </Show>
  )
}

export function ByDomain({ span }: { readonly span: TimeSpan }): JSX.Element {
  const w = texts()
  const read = useInsight('/v1/insights/domains', span, { first: most })
  const earlier = useEarlier('/v1/insights/domains', span, most)
  return (
    <Show read={read} reload={read.reload} failure={w.insightFailed} rows={3}>
      {({ data }) => (
        <Shares
          {...{ title: w.byDomain, first: w.recipientDomain, name: 'domains' }}
          rows={data.map((row) => ({
            ...{ ...row, key: row.domain ?? '', subject: row.domain ?? w.allOthers },
            href: row.domain === null ? undefined : traces(span, { q: `@${row.domain}` }),
          }))}
          before={new Map(earlier?.data.map((row) => [row.domain ?? '', row]))}
        />
      )}
    </Show>
  )
}
