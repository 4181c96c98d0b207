/** Queue actions, newest first. */
import type { JSX } from 'preact'
import { projectId } from '../app/location.ts'
import { useList, useTicks } from '../app/query.ts'
import { List, Moment } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { State } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { QueueLink } from '../queue-side/of-organization.tsx'
import { useSide } from '../queue-side/queue-side.ts'
import type { QueueAct } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { ActStatus, FilterText, markOf } from './act-marks.tsx'
import { texts } from './queue-texts.ts'

const everyMs = 5000

export function ActList(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const side = useSide()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList(...side.acts(project))
  const rows = list.read.data ?? []
  const running = rows.filter(({ status }) => status === 'running').length
  useTicks(running > 0 ? everyMs : undefined, list.refresh)
  return (
    <>
      <TopBar
        title={w.acts}
        {...(side.organization !== undefined && {
          heading: (
            <>
              <QueueLink />
              <span class="cut">{w.acts}</span>
            </>
          ),
        })}
      />
      <div class="sheet">
        {rows.length > 0 && (
          <div class="say">
            <h2>{w.actsSay({ running })}</h2>
            <p>{w.actsText}</p>
          </div>
        )}
        <List
          label={w.acts}
          list={list}
          failure={w.actsFailed}
          keyOf={keyOf}
          open={(one) => side.actsLink(keyOf(one))}
          empty={<State title={w.noActs} text={w.noActsText} />}
          columns={[
            { head: w.when, class: 'c-time', cell: (one) => <a href={side.actsLink(keyOf(one))}>{begun(one)}</a> },
            { head: w.act, class: 'c-status', cell: ({ act }) => w.verbs[act] },
            { head: common.status, class: 'c-status', cell: ({ status }) => <ActStatus status={status} /> },
            { head: w.which, class: 'strong', cell: (one) => <FilterText act={one} /> },
            { head: w.done, class: 'c-took num', cell: ({ counters }) => number(counters.acted) },
            { head: w.skipped, class: 'c-took num', cell: ({ counters }) => number(counters.skipped) },
          ]}
          narrow={(one) => [
            <Mark name={markOf(one.status)} />,
            <>
              {w.verbs[one.act]}: <FilterText act={one} />
            </>,
            `${w.statuses[one.status]} · ${w.done} ${number(one.counters.acted)}`,
            begun(one),
          ]}
        />
      </div>
    </>
  )
}

const keyOf = ({ id }: QueueAct): string => id ?? ''
const begun = ({ created_at: at }: QueueAct): JSX.Element | string => (at === null ? '–' : <Moment at={at} />)
