/** Screen with open findings, and findings that ended in the last 30 days. People acknowledge and mute findings here. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { link, linkHere, projectId, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { asFault, useList, useTicks } from '../app/query.ts'
import { MoreMenu } from '../parts/menu.tsx'
import { plain } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { acknowledgeFinding, listFindings, muteFinding, type Finding } from '../wire/operations.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { FindingRow } from './finding-rows.tsx'
import { textOf } from './finding-text.ts'
import { texts } from './findings-texts.ts'

const refreshMs = 15_000
const dayMs = 86_400_000
/** A clock that is ahead of the service must not exceed the limit of 30 days. */
const slackMs = 300_000

export default function FindingsScreen(): JSX.Element {
  const w = texts()
  const state = query.value.get('state') === 'over' ? 'over' : 'open'
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList(listFindings, { query: { ...project, state, limit: '50' } })
  // a longer list would lose the pages that were added
  useTicks(list.more === undefined ? refreshMs : undefined, list.refresh)
  return (
    <>
      <TopBar title={w.findings} />
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
                  {rows.map((finding) => (
                    <FindingRow
                      key={finding.id}
                      finding={finding}
                      more={<Details finding={finding} />}
                      acts={mayChange.value && finding.state === 'open' && <Marks finding={finding} onDone={list.reload} />}
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

/** Menu that acknowledges, mutes or unmutes a finding. */
function Marks({ finding: { id, acknowledged, muted_until: until }, onDone }: { readonly finding: Finding; readonly onDone: () => void }) {
  const w = texts()
  const mark = async (change: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await change()
      toast(done)
    } catch (error) {
      toast(asFault(error).message)
    }
    onDone()
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
