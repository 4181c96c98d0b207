/** Form that creates a replay: filter, number of matching messages, destination and confirmation. */
import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useAll, type AllRows } from '../app/all.ts'
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { ChooseField, TextField, useTyped } from '../parts/controls.tsx'
import { EndDialog } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { localInput, number, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Destination, Replay, TraceSummary } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { bodyOf, chosenNow, linkWith, ranges, tracesQuery, type Chosen } from './filter.ts'
import { texts } from './replays-texts.ts'

const shownTraces = 8

export function NewReplay(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const chosen = chosenNow()
  const key = JSON.stringify([chosen, projectId.value])
  const body = useMemo(() => bodyOf(chosen, Date.now()), [key])
  const preview = useRead('POST /v1/replays', { body: { ...body, dry_run: true } }, { isShown: true })
  const sample = useRead('/v1/traces', {
    query: {
      ...tracesQuery(body),
      status: 'failed',
      limit: shownTraces,
      ...(projectId.value !== undefined && { project: projectId.value }),
    },
  })
  const [isAsking, setAsking] = useState(false)
  const count = preview.data?.matched ?? 0
  return (
    <>
      <TopBar
        title={common.newReplay}
        heading={
          <>
            <a href={link('/queue/replays')}>{common.replays}</a>
            <span class="cut">{common.newReplay}</span>
          </>
        }
      />
      <div class="sheet">
        <div class="columns">
          <section aria-label={w.filterTitle}>
            <Filter chosen={chosen} fields={preview.state === 'failed' ? preview.fault.fields : undefined} />
          </section>
          <aside aria-label={w.latest}>
            <div class="block" aria-live="polite">
              <Show read={preview} reload={preview.reload} failure={w.previewFailed} rows={2}>
                {(found) => <Count found={found} onStart={() => setAsking(true)} />}
              </Show>
            </div>
            {count > 0 && <Sample traces={sample.data?.data ?? []} query={tracesQuery(body)} />}
          </aside>
        </div>
      </div>
      {isAsking && preview.data && <Start body={body} found={preview.data} onClose={() => setAsking(false)} />}
    </>
  )
}

interface FilterProps {
  readonly chosen: Chosen
  readonly fields: ReadonlyMap<string, string> | undefined
}

const set = (changes: Parameters<typeof linkWith>[0]): void => go(linkWith(changes), { replaces: true })

function Filter({ chosen, fields }: FilterProps): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const destinations = useAll('/v1/destinations', { query: project })
  return (
    <>
      <div class="block">
        <h2>{w.filterTitle}</h2>
        <div class="form">
          <ChooseField
            label={w.when}
            value={chosen.range}
            onChange={(range) => set({ range: range as Chosen['range'], since: '', until: '' })}
            options={ranges.map((one) => [one, w.ranges[one]] as const)}
          />
          {chosen.range === 'custom' && (
            <div class="pair">
              <LateField
                label={w.since}
                type="datetime-local"
                value={localOf(chosen.since)}
                onChange={(since) => set({ since })}
                fault={fields?.get('filter.since')}
              />
              <LateField
                label={w.until}
                type="datetime-local"
                value={localOf(chosen.until)}
                onChange={(until) => set({ until })}
                fault={fields?.get('filter.until')}
              />
            </div>
          )}
          <LateField label={w.to} hint={w.exact} value={chosen.to} onChange={(to) => set({ to })} fault={fields?.get('filter.to')} />
          <LateField
            label={w.from}
            hint={w.exact}
            value={chosen.from}
            onChange={(from) => set({ from })}
            fault={fields?.get('filter.from')}
          />
          <ChooseField
            label={w.destination}
            value={chosen.destination}
            onChange={(destination) => set({ destination })}
            of={destinations}
            options={[['', w.every], ...destinations.rows.map(({ id, name }) => [id, plain(name)] as const)]}
          />
        </div>
      </div>
      <Where chosen={chosen} fields={fields} destinations={destinations} />
    </>
  )
}

function Where({ chosen, fields, destinations }: FilterProps & { readonly destinations: AllRows<Destination> }): JSX.Element {
  const w = texts()
  return (
    <div class="block">
      <h2>{w.whereTo}</h2>
      <div class="form">
        <ChooseField
          label={w.target}
          hint={w.targetHint}
          value={chosen.target}
          onChange={(target) => set({ target })}
          options={[
            ['', w.sameAsBefore],
            ...destinations.rows.filter(({ mode }) => mode === 'live').map(({ id, name }) => [id, plain(name)] as const),
          ]}
          fault={fields?.get('target_destination_id')}
        />
        <label class="check">
          <input type="checkbox" checked={chosen.unknown} onChange={(event) => set({ unknown: event.currentTarget.checked ? '1' : '' })} />
          {w.includeUnknown}
        </label>
      </div>
    </div>
  )
}

/** Returns the value of a local time field for a time in UTC. */
const localOf = (given: string): string => (given.endsWith('Z') ? localInput(given) : given)

type TextFieldProps = Parameters<typeof TextField>[0]

/** Text field that applies its value after a pause, so that incomplete input starts no request. */
function LateField({ value, onChange, ...rest }: TextFieldProps): JSX.Element {
  const [typed, setTyped] = useTyped(value)
  useEffect(() => {
    if (typed === value) return undefined
    const timer = setTimeout(() => onChange(typed.trim()), lateMs)
    return () => clearTimeout(timer)
  }, [typed, value])
  return <TextField {...rest} value={typed} onChange={setTyped} />
}

const lateMs = 500

function Count({ found, onStart }: { readonly found: Replay; readonly onStart: () => void }): JSX.Element {
  const w = texts()
  const { matched, complete } = found
  const count = number(matched ?? 0)
  return (
    <>
      <h2 class="big-count">{matched === 0 ? w.noneMatches : w.matched({ count, isMore: complete === false })}</h2>
      <p class="soft">{w.countText}</p>
      {matched !== 0 && (
        <div class="actions">
          <button class="button primary" onClick={onStart}>
            {w.start({ count })}
          </button>
        </div>
      )}
    </>
  )
}

interface SampleProps {
  readonly traces: readonly TraceSummary[]
  readonly query: Readonly<Record<string, string | undefined>>
}

const Sample = ({ traces, query }: SampleProps): JSX.Element => (
  <div class="block">
    <h2>{texts().latest}</h2>
    <ul class="links">
      {traces.map(({ trace_id: id, status, subject, to, created_at: at }) => (
        <li key={id}>
          <Mark name={status} />
          <span>
            <a href={link(`/traces/${id}`)}>
              <SafeText text={subject || allTexts().noSubject} />
            </a>
            <br />
            <span class="faint">
              <SafeText text={to.join(', ')} />
            </span>
          </span>
          <span class="faint">{shortTime(at)}</span>
        </li>
      ))}
    </ul>
    <p>
      <a href={link('/traces', { ...query, status: 'failed' })}>{texts().tracesOfIt}</a>
    </p>
  </div>
)

interface StartProps {
  readonly body: ReturnType<typeof bodyOf>
  readonly found: Replay
  readonly onClose: () => void
}

function Start({ body, found, onClose }: StartProps): JSX.Element {
  const w = texts()
  const matched = String(found.matched ?? 0)
  const start = async (): Promise<void> => {
    const { job_id: id } = await call('POST /v1/replays', { body })
    toast(w.started)
    go(link(`/queue/replays/${id ?? ''}`, { of: matched }))
  }
  return (
    <EndDialog
      title={w.startTitle({ count: number(found.matched ?? 0) })}
      effects={[w.startEffect, w.startCounts, ...(body.include_unknown === true ? [w.startUnknown] : [])]}
      name={matched}
      submit={w.startNow}
      onClose={onClose}
      onSubmit={start}
    />
  )
}
