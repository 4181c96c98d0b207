/** Screen with open findings, and findings that ended in the last 30 days. People acknowledge and mute findings here. */
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { link, linkHere, projectId, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { useList, type Listing } from '../app/query.ts'
import { Older } from '../parts/list.tsx'
import { NewPill } from '../parts/new-pill.tsx'
import { plain } from '../parts/safe-text.tsx'
import { NothingMatches, Show, State } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Finding } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'
import { filterHere, FindingFilters } from './finding-filter.tsx'
import { Marks } from './finding-marks.tsx'
import { FindingRow } from './finding-rows.tsx'
import { texts } from './findings-texts.ts'
import { useSteady } from './steady.ts'

type Query = NonNullable<Input<'/v1/findings'>['query']>

const refreshMs = 15_000

export default function FindingsScreen(): JSX.Element {
  const w = texts()
  const state = query.value.get('state') === 'over' ? 'over' : 'open'
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const filter = filterHere()
  const wanted = { ...project, ...filter, state } as const
  const list = useList('/v1/findings', { query: wanted })
  const { rows, news, keep } = useCurrent(list, wanted)
  return (
    <>
      <TopBar title={w.findings}>
        <NewPill {...news} onShow={list.reload} />
      </TopBar>
      <div class="sheet">
        <nav class="areas" aria-label={w.findings}>
          <a href={linkHere({ state: '' })} aria-current={state === 'open' ? 'page' : undefined}>
            {w.open}
          </a>
          <a href={linkHere({ state: 'over' })} aria-current={state === 'over' ? 'page' : undefined}>
            {w.over}
          </a>
        </nav>
        <FindingFilters filter={filter} />
        <Show read={list.read} reload={list.reload} failure={w.failed}>
          {() =>
            rows.length > 0 ? (
              <>
                <ul class="look whole" aria-label={w.findings}>
                  {rows.map((finding) => (
                    <FindingRow
                      key={finding.id}
                      {...{ finding, hasFix: true }}
                      origin={projectLink(finding)}
                      acts={mayChange.value && finding.state === 'open' && <Marks finding={finding} onDone={keep} />}
                    />
                  ))}
                </ul>
                <Older list={list} />
              </>
            ) : Object.keys(filter).length > 0 || list.more ? (
              <NothingMatches all={linkHere({ severity: '', group: '' })} more={list.more} />
            ) : (
              <State title={state === 'open' ? w.noneOpen : w.noneOver} text={state === 'open' ? w.noneOpenText : w.noneOverText} />
            )
          }
        </Show>
      </div>
    </>
  )
}

/** Reads the list in the background. Rows keep their places until the user shows the new ones. */
function useCurrent(list: Listing<Finding>, wanted: Query) {
  const now = useAll('/v1/findings', { query: wanted }, { every: refreshMs })
  const placed = list.read.data
  const newest = Math.max(0, ...(placed ?? []).map(({ opened_at: at }) => Date.parse(at)))
  // rows of pages that are not loaded are older than the newest row
  const isNew = ({ opened_at: at }: Finding): boolean => list.more === undefined || Date.parse(at) > newest
  const current = useSteady(placed, now.read.data, isNew)
  const keep = (changed: Finding): void => {
    list.change((rows) => rows.map((row) => (row.id === changed.id ? changed : row)))
    now.reload()
  }
  useEffect(() => {
    if (placed?.length === 0 && current.news.added > 0) list.reload()
  }, [current.news.added])
  return { ...current, keep }
}

function projectLink({ project_id: id }: Finding): JSX.Element | undefined {
  const project = projects.value.find((one) => one.id === id)
  return project && <a href={link('/findings', { project: project.id })}>{plain(project.name)}</a>
}
