/** Filter of the list of findings in the address: severity and group. */
import type { JSX } from 'preact'
import { texts as alertTexts } from '../alerts/alerts-texts.ts'
import { groups } from '../alerts/channel-draft.ts'
import { go, linkHere, query } from '../app/location.ts'
import { Pills } from '../parts/controls.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import type { Finding } from '../wire/api.d.ts'
import { texts } from './findings-texts.ts'

const severities = ['error', 'warning', 'notice'] as const satisfies readonly Finding['severity'][]

interface Filter {
  readonly severity?: Finding['severity']
  readonly group?: Finding['group']
}

/** Reads the filter from the address. Unknown values count as none. */
export function filterHere(): Filter {
  const severity = severities.find((one) => one === query.value.get('severity'))
  const group = groups.find((one) => one === query.value.get('group'))
  return { ...(severity && { severity }), ...(group && { group }) }
}

export function FindingFilters({ filter: { severity, group } }: { readonly filter: Filter }): JSX.Element {
  const w = texts()
  return (
    <div class="filters narrowing">
      <Pills
        label={w.severity}
        value={severity ?? ''}
        onChoose={(next) => go(linkHere({ severity: next }))}
        pills={[{ value: '', label: allTexts().all }, ...severities.map((one) => ({ value: one, label: w.severityPills[one] }))]}
      />
      <select
        class="input"
        aria-label={w.group}
        value={group ?? ''}
        onChange={({ currentTarget }) => go(linkHere({ group: currentTarget.value }))}
      >
        <option value="">{w.allGroups}</option>
        {groups.map((one) => (
          <option key={one} value={one}>
            {alertTexts().groups[one]}
          </option>
        ))}
      </select>
    </div>
  )
}
