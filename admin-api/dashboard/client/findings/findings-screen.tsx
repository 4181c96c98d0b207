/** Screen with open findings, and findings that ended in the last 30 days. People acknowledge and mute findings here. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { link, linkHere, projectId, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { asFault, useList, useRead, type Listing } from '../app/query.ts'
import { MoreMenu } from '../parts/menu.tsx'
import { NewPill } from '../parts/new-pill.tsx'
import { plain } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { acknowledgeFinding, listFindings, muteFinding, type Finding } from '../wire/operations.ts'
import { texts as allTexts } from '../texts/texts.ts'
import type { InputOf } from '../wire/operation.ts'
import { FindingRow } from './finding-rows.tsx'
import { textOf } from './finding-text.ts'
import { texts } from './findings-texts.ts'
import { useSteady } from './steady.ts'

type FindingFilter = NonNullable<InputOf<typeof listFindings>['query']>

const refreshMs = 15_000
const dayMs = 86_400_000
/** A clock that is ahead of the service must not exceed the limit of 30 days. */
const slackMs = 300_000

export default function FindingsScreen(): JSX.Element {
  const w = texts()
  const state = query.value.get('state') === 'over' ? 'over' : 'open'
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const filter = { ...project, state } as const
  const list = useList(listFindings, { query: { ...filter, limit: '50' } })
  const { rows: current, news, reload } = useCurrent(list, filter)
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
        <Show read={list.read} reload={list.reload} failure={w.failed}>
          {(rows) =>
            rows.length === 0 && !list.more ? (
              <State title={state === 'open' ? w.noneOpen : w.noneOver} text={state === 'open' ? w.noneOpenText : w.noneOverText} />
            ) : (
              <>
                <ul class="look whole" aria-label={w.findings}>
                  {current.map((finding) => (
                    <FindingRow
                      key={finding.id}
                      finding={finding}
                      more={<Details finding={finding} />}
                      acts={mayChange.value && finding.state === 'open' && <Marks finding={finding} onDone={reload} />}
                    />
                  ))}
                </ul>
                {list.more && (
                  <div class="more">
                    <button class="button" aria-disabled={list.isLoadingMore} onClick={list.more}>
                      {allTexts().older}
                    </button>
                  </div>
                )}
              </>
            )
          }
        </Show>
      </div>
    </>
  )
}

/** Reads the list in the background. Rows keep their places until the user shows the new ones. */
function useCurrent(list: Listing<Finding>, filter: FindingFilter) {
  const now = useRead(listFindings, { query: { ...filter, limit: '200' } }, { every: refreshMs })
  const placed = list.read.data
  const newest = Math.max(0, ...(placed ?? []).map(({ opened_at: at }) => Date.parse(at)))
  // rows of pages that are not loaded are older than the newest row
  const isNew = ({ opened_at: at }: Finding): boolean => list.more === undefined || Date.parse(at) > newest
  const reload = (changed: Finding): void => {
    list.change((rows) => rows.map((row) => (row.id === changed.id ? changed : row)))
    now.reload()
  }
  return { ...useSteady(placed, now.data?.data, isNew), reload }
}

function Details({ finding }: { readonly finding: Finding }): JSX.Element {
  const w = texts()
  const { project_id: id, acknowledged, muted_until: until } = finding
  const project = projects.value.find((one) => one.id === id)
  const isMuted = until !== null && Date.parse(until) > Date.now()
  return (
    <>
      <p>{plain(textOf(finding).fix)}</p>
      {(project !== undefined || acknowledged !== null || isMuted) && (
        <p class="look-tags">
          {project && <a href={link('/findings', { project: project.id })}>{plain(project.name)}</a>}
          {acknowledged && <span class="tag">{w.acknowledged({ at: shortTime(acknowledged.at, true) })}</span>}
          {isMuted && <span class="tag">{w.mutedUntil({ at: shortTime(until, true) })}</span>}
        </p>
      )}
    </>
  )
}

interface MarksProps {
  readonly finding: Finding
  readonly onDone: (changed: Finding) => void
}

/** Menu that acknowledges, mutes or unmutes a finding. */
function Marks({ finding: { id, acknowledged, muted_until: until }, onDone }: MarksProps): JSX.Element {
  const w = texts()
  const mark = async (change: () => Promise<Finding>, done: string): Promise<void> => {
    try {
      onDone(await change())
      toast(done)
    } catch (error) {
      toast(asFault(error).message)
    }
  }
  const mute = (days: number): Promise<void> => {
    const end = days === 0 ? null : new Date(Date.now() + days * dayMs - slackMs).toISOString()
    return mark(() => call(muteFinding, { path: { id }, body: { until: end } }), days === 0 ? w.unmutedNow : w.mutedNow)
  }
  return (
    <MoreMenu
      acts={(then) => (
        <>
          {acknowledged === null && (
            <button onClick={then(() => void mark(() => call(acknowledgeFinding, { path: { id } }), w.acknowledgedNow))}>
              {w.acknowledge}
            </button>
          )}
          {[1, 7, 30].map((days) => (
            <button key={days} onClick={then(() => void mute(days))}>
              {w.muteFor({ days })}
            </button>
          ))}
          {until !== null && <button onClick={then(() => void mute(0))}>{w.unmute}</button>}
        </>
      )}
    >
      {null}
    </MoreMenu>
  )
}
