/** Import of suppression lists from another service. A dry run comes first. The report lists all rejected rows. */
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { showCall, type ApiFault } from '../app/api.ts'
import { link, projectId } from '../app/location.ts'
import { asFault } from '../app/query.ts'
import { JobFigures } from '../jobs/job-parts.tsx'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import { FileField } from './file-field.tsx'
import { importList, importRoute, type LeftRow, type ListQuery, type ListReport } from './list-report.ts'
import { texts } from './moving-texts.ts'
import { nameOf, ServiceField, serviceIn } from './vendors.tsx'

const kinds = ['bounces', 'blocks', 'complaints', 'unsubscribes', 'invalid', 'manual', 'allowed'] as const

interface Wanted {
  readonly file: File | undefined
  readonly service: string
  readonly kind: string
  readonly list: string
}

const nothing: Wanted = { file: undefined, service: '', kind: '', list: '' }

function queryOf({ service, kind, list }: Wanted): ListQuery {
  const found = kinds.find((one) => one === kind)
  return {
    ...serviceIn(service),
    ...(found && { kind: found }),
    ...(list.trim() !== '' && { list: list.trim() }),
    ...(projectId.value !== undefined && { project_id: projectId.value }),
  }
}

interface Run {
  readonly isDry: boolean
  readonly isGoing: boolean
  readonly report?: ListReport
  readonly fault?: ApiFault
}

/** Abort reason for a stop by the user. The report of stored rows stays visible, as after an interruption. */
const stopped = new Error('stopped')

/** Runs one import at a time. A changed file or choice discards the result of the dry run. */
function useImport(wanted: Wanted) {
  const [run, setRun] = useState<Run>()
  const aborter = useRef<AbortController>(undefined)
  const stop = (): void => aborter.current?.abort(stopped)
  const key = JSON.stringify([wanted.file?.name, wanted.file?.size, wanted.file?.lastModified, queryOf(wanted)])
  useEffect(() => {
    setRun(undefined)
    return () => aborter.current?.abort()
  }, [key])
  const start = async (isDry: boolean, fromRow = 1): Promise<void> => {
    const { file } = wanted
    if (!file || run?.isGoing) return
    const { signal } = (aborter.current = new AbortController())
    let report: ListReport | undefined
    const keep = (next: Run): void => {
      if (!signal.aborted || signal.reason === stopped) setRun(next)
    }
    keep({ isDry, isGoing: true })
    const query = {
      ...queryOf(wanted),
      dry_run: isDry,
      ...(fromRow > 1 && { from_row: fromRow }),
    }
    try {
      report = await importList({ file, query, signal, onReport: (so) => keep({ isDry, isGoing: true, report: (report = so) }) })
      keep({ isDry, isGoing: false, report })
    } catch (error) {
      keep({ isDry, isGoing: false, ...(signal.aborted ? report && { report } : { fault: asFault(error) }) })
    }
  }
  return { run, start, stop }
}

/** Shows the API call with an example file. */
function showExample(): void {
  const file = { name: 'list.csv', type: 'text/csv' }
  showCall(importRoute, { query: { ...queryOf(nothing), dry_run: true }, file })
}

export function Addresses(): JSX.Element {
  const w = texts()
  const [wanted, setWanted] = useState(nothing)
  const { run, start, stop } = useImport(wanted)
  useLayoutEffect(showExample, [])
  const set =
    (name: 'service' | 'kind' | 'list') =>
    (value: string): void =>
      setWanted({ ...wanted, [name]: value })
  const isCounted = run?.isDry === true && run.report?.counts !== undefined && run.report.counts.added > 0
  return (
    <>
      <div class="block">
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault()
            void start(!isCounted)
          }}
        >
          <FileField hint={w.listHint} accept=".csv,.json,.ndjson,.jsonl,.txt,.tsv" onChoose={([file]) => setWanted({ ...wanted, file })} />
          <ServiceField value={wanted.service} onChange={set('service')} />
          <ChooseField
            label={w.kind}
            value={wanted.kind}
            onChange={set('kind')}
            options={[['', w.bySelf], ...kinds.map((kind) => [kind, w.kinds[kind]] as const)]}
          />
          <TextField label={w.list} hint={w.listNameHint} value={wanted.list} onChange={set('list')} />
          <div class="actions">
            <button class="button primary" aria-disabled={!wanted.file || run?.isGoing === true}>
              {isCounted ? w.takeAddresses({ n: run.report?.counts?.added ?? 0 }) : w.preview}
            </button>
            {run?.isGoing && (
              <button type="button" class="button" onClick={stop}>
                {w.stop}
              </button>
            )}
          </div>
        </form>
        <Fault fault={run?.fault} />
      </div>
      {run?.report && <Shown run={{ ...run, report: run.report }} goOn={(row) => void start(run.isDry, row)} />}
    </>
  )
}

type Reported = Run & { readonly report: ListReport }

interface ShownProps {
  readonly run: Reported
  readonly goOn: (fromRow: number) => void
}

function sentenceOf({ isDry, isGoing, report: { counts, reached } }: Reported): string {
  const w = texts()
  if (counts) return isDry ? w.wouldTake({ n: counts.added }) : w.taken({ n: counts.added })
  if (isGoing) return w.goesOn({ row: reached })
  return isDry ? w.countBrokeOff : w.brokeOff({ row: reached })
}

function Shown({ run, goOn }: ShownProps): JSX.Element {
  const w = texts()
  const { isDry, isGoing, report } = run
  const { service, counts, reached, left, leftCount } = report
  const hasRest = !counts && !isGoing
  const from = service === null ? '' : nameOf(service)
  return (
    <section aria-label={w.result}>
      <div class="say" role="status">
        <h2>{sentenceOf(run)}</h2>
        <p>
          {from !== '' && w.fileOf({ service: from })} {isDry ? w.nothingYet : hasRest && w.restIsLeft}
        </p>
      </div>
      {hasRest && !isDry && (
        <div class="block">
          <button class="button" onClick={() => goOn(reached + 1)}>
            {w.continueFrom({ row: reached + 1 })}
          </button>
        </div>
      )}
      {counts && (
        <JobFigures
          of={0}
          done={0}
          figures={[
            { name: isDry ? w.new : w.added, value: counts.added },
            { name: w.alreadyThere, value: counts.already_there },
            { name: w.skipped, value: counts.skipped },
            { name: w.refused, value: counts.refused },
          ]}
        />
      )}
      {counts && !isDry && (
        <div class="block">
          <p>
            <a href={link('/recipients/suppressions', { source: 'import' })}>{w.seeAddresses}</a>
          </p>
        </div>
      )}
      {leftCount > 0 && <Left rows={left} count={leftCount} />}
    </section>
  )
}

function Left({ rows, count }: { readonly rows: readonly LeftRow[]; readonly count: number }): JSX.Element {
  const w = texts()
  return (
    <div class="block">
      <h3>{w.notTaken({ n: count })}</h3>
      <ul class="links">
        {rows.map(({ row, line, result, email, message }) => (
          <li key={row}>
            <Mark name={result === 'refused' ? 'failed' : 'none'} />
            <span>
              {email !== null && (
                <b>
                  <SafeText text={email} />{' '}
                </b>
              )}
              <span lang="en">
                <SafeText text={message} />
              </span>{' '}
              <span class="faint">
                {w.results[result]} · {w.lineOf({ line: number(line) })}
              </span>
            </span>
          </li>
        ))}
      </ul>
      {count > rows.length && <p class="faint">{w.firstOnly({ n: rows.length })}</p>}
    </div>
  )
}
