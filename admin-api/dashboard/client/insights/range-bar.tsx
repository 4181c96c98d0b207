/** Controls for the period, time zone and comparison of the figures and plots on a screen. The address stores the choices. */
import type { JSX } from 'preact'
import { useKeys } from '../app/keys.ts'
import { go, linkHere, query } from '../app/location.ts'
import { Segments } from '../parts/controls.tsx'
import { texts } from '../texts/texts.ts'
import { isCompared, isUtc, rangeOf, ranges, type Range } from './time-range.ts'

const choose = (range: Range): void => go(linkHere({ range: range === '24h' ? '' : range }), { replaces: true })

export function RangeChoice(): JSX.Element {
  const w = texts()
  const labels: Readonly<Record<Range, string>> = {
    '24h': '24 h',
    '7d': w.days({ count: 7 }),
    '30d': w.days({ count: 30 }),
    '90d': w.days({ count: 90 }),
  }
  useKeys(Object.fromEntries(ranges.map((range, at) => [String(at + 1), () => choose(range)])), [])
  return (
    <Segments
      label={w.timeShown}
      value={rangeOf(query.value)}
      onChoose={choose}
      choices={ranges.map((value) => ({ value, label: labels[value] }))}
    />
  )
}

export function RangeBar(): JSX.Element {
  const w = texts()
  return (
    <div class="range-bar">
      <RangeChoice />
      <Segments
        label={w.timeZone}
        value={isUtc(query.value) ? 'utc' : 'local'}
        onChoose={(zone) => go(linkHere({ zone: zone === 'utc' ? 'utc' : '' }), { replaces: true })}
        choices={[
          { value: 'utc', label: 'UTC' },
          { value: 'local', label: w.localTime },
        ]}
      />
      <CompareButton />
    </div>
  )
}

export function CompareButton(): JSX.Element {
  const compared = isCompared(query.value)
  const toggle = (): void => go(linkHere({ compare: compared ? '' : '1' }), { replaces: true })
  return (
    <button class="button" type="button" aria-pressed={compared} onClick={toggle}>
      {texts().compare}
    </button>
  )
}
