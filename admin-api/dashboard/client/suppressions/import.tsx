/** Import of suppressions from a file or pasted lines, with counts before the import. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, linkHere } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { SuppressionImportReport } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { maxRows, parseImport, type Parsed } from './import-file.ts'
import { texts } from './suppressions-texts.ts'

const maxShown = 20

export function ImportDialog({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [text, setText] = useState('')
  const [report, setReport] = useState<SuppressionImportReport>()
  const found = parseImport(text)
  const tried = useDryRun(found)
  const close = (): void => go(linkHere({ import: '' }), { replaces: true })
  const run = async (): Promise<void> => {
    if (report) return close()
    const made = await call('POST /v1/suppressions/bulk-import', { body: bodyOf(found) })
    onDone()
    toast(w.imported({ n: made.added }))
    if (made.refused === 0) close()
    else setReport(made)
  }
  const isReady = report !== undefined || (found.rows.length > 0 && found.rows.length <= maxRows)
  return (
    <FormDialog title={w.importTitle} submit={report ? common.done : w.importNow} isReady={isReady} onClose={close} onSubmit={run}>
      {() =>
        report ? (
          <Report report={report} />
        ) : (
          <>
            <div class="field">
              <label for="import-file">{w.file}</label>
              <input
                id="import-file"
                class="input"
                type="file"
                accept=".csv,.txt,text/csv,text/plain"
                onChange={(event) => void event.currentTarget.files?.[0]?.text().then(setText)}
              />
              <small>{w.fileHint}</small>
            </div>
            <TextField label={w.pasted} value={text} onChange={setText} isLong />
            <p>
              <a href={link('/settings/import')}>{common.movingIn}</a>
            </p>
            {text.trim() !== '' && <Counts found={found} tried={tried} />}
          </>
        )
      }
    </FormDialog>
  )
}

const bodyOf = ({ rows }: Parsed) => ({ rows: rows.map(({ email, reason }) => ({ email, reason: reason ?? null })) })

const pauseMs = 400

/** Runs a dry run of the import after typing has stopped. */
function useDryRun(found: Parsed): SuppressionImportReport | undefined {
  const key = JSON.stringify(bodyOf(found))
  const [tried, setTried] = useState<{ readonly key: string; readonly report: SuppressionImportReport }>()
  useEffect(() => {
    if (found.rows.length === 0 || found.rows.length > maxRows) return undefined
    const aborter = new AbortController()
    const ask = async (): Promise<void> => {
      const report = await call(
        'POST /v1/suppressions/bulk-import',
        { query: { dry_run: true }, body: bodyOf(found) },
        { signal: aborter.signal },
      )
      setTried({ key, report })
    }
    const timer = setTimeout(() => void ask().catch(() => undefined), pauseMs) // the import itself reports errors
    return () => {
      clearTimeout(timer)
      aborter.abort()
    }
  }, [key])
  return tried?.key === key ? tried.report : undefined
}

interface CountsProps {
  readonly found: Parsed
  readonly tried: SuppressionImportReport | undefined
}

/** Expected result of the import. */
function Counts({ found: { rows, without, repeated }, tried }: CountsProps): JSX.Element {
  const w = texts()
  const isTooMany = rows.length > maxRows
  return (
    <div role="status">
      <ul class="would">
        <li>
          <Mark name={rows.length === 0 || isTooMany ? 'warning' : 'ok'} />
          <b>{number(rows.length)}</b> {isTooMany ? w.tooMany({ most: number(maxRows) }) : w.toTake}
        </li>
        {tried && (
          <li>
            <Mark name="ok" />
            <b>{number(tried.added)}</b> {w.wouldAdd}
          </li>
        )}
        {tried && tried.already_there > 0 && (
          <li>
            <Mark name="none" />
            <b>{number(tried.already_there)}</b> {w.wouldKeep}
          </li>
        )}
        {tried && tried.refused > 0 && (
          <li>
            <Mark name="warning" />
            <b>{number(tried.refused)}</b> {w.wouldRefuse}
          </li>
        )}
        {repeated > 0 && (
          <li>
            <Mark name="none" />
            <b>{number(repeated)}</b> {w.repeated}
          </li>
        )}
        {without > 0 && (
          <li>
            <Mark name="warning" />
            <b>{number(without)}</b> {w.without}
          </li>
        )}
      </ul>
    </div>
  )
}

function Report({ report }: { readonly report: SuppressionImportReport }): JSX.Element {
  const w = texts()
  const refused = report.rows.filter(({ result }) => result === 'refused')
  return (
    <>
      <p>{w.reportOf({ added: report.added, known: report.already_there, refused: report.refused })}</p>
      <ul class="recipients">
        {refused.slice(0, maxShown).map(({ row, email, message }) => (
          <li key={row}>
            <code>{plain(email ?? String(row))}</code> <span lang="en">{message}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
