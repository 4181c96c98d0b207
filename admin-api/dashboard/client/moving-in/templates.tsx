/** Import of templates from another service. A dry run shows each result and the position of unsupported syntax. */
import type { JSX } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { ApiFault, call, showCall } from '../app/api.ts'
import { link, projectId } from '../app/location.ts'
import { asFault } from '../app/query.ts'
import { JobFigures } from '../jobs/job-parts.tsx'
import { TextField, useBusy } from '../parts/controls.tsx'
import { FeatureNote, useFlag } from '../parts/feature.tsx'
import { Fault } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import type { TemplateImportReport } from '../wire/api.d.ts'
import { FileField } from './file-field.tsx'
import { texts } from './moving-texts.ts'
import { ServiceField, serviceIn } from './vendors.tsx'
import { documentsOf, hasPlain, maxTemplateBytes, NotJson } from './template-files.ts'

interface Wanted {
  readonly files: readonly File[]
  readonly service: string
  readonly subject: string
  readonly replaces: boolean
}

interface Result {
  readonly isDry?: boolean
  readonly report?: TemplateImportReport
  readonly fault?: ApiFault
}

/** Shown as the API call while no file is selected. */
const example = { document: { Alias: 'welcome', Name: 'Welcome', Subject: 'Hello {{name}}', TextBody: 'Hello {{name}}' }, dry_run: true }

/** Number of templates that the import writes. */
const writes = ({ created, updated }: TemplateImportReport): number => created + updated

export function MovedTemplates(): JSX.Element {
  const w = texts()
  const flag = useFlag('templates')
  const [wanted, setWanted] = useState<Wanted>({ files: [], service: '', subject: '', replaces: false })
  const [result, setResult] = useState<Result>({})
  const [isBusy, start] = useBusy()
  useLayoutEffect(() => showCall('POST /v1/templates/service-import', { body: example }), [])
  const change = (to: Partial<Wanted>): void => {
    setWanted({ ...wanted, ...to })
    setResult({}) // the dry run no longer matches the input
  }
  const isCounted = result.isDry === true && result.report !== undefined && writes(result.report) > 0
  const isReady = wanted.files.length > 0 && flag?.enabled !== false
  return (
    <>
      <FeatureNote flag={flag} />
      <div class="block">
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault()
            if (isReady) start(async () => setResult(await take(wanted, !isCounted)))
          }}
        >
          <FileField hint={w.templateHint} accept=".json,.html,.htm,.txt" isMultiple onChoose={(files) => change({ files })} />
          <ServiceField value={wanted.service} onChange={(service) => change({ service })} />
          {hasPlain(wanted.files) && (
            <TextField label={w.subject} hint={w.subjectHint} value={wanted.subject} onChange={(subject) => change({ subject })} />
          )}
          <label class="check">
            <input type="checkbox" checked={wanted.replaces} onChange={(event) => change({ replaces: event.currentTarget.checked })} />
            <span>{w.replaces}</span>
          </label>
          <div class="actions">
            <button class="button primary" aria-disabled={isBusy || !isReady}>
              {isCounted && result.report ? w.takeTemplates({ n: writes(result.report) }) : w.preview}
            </button>
          </div>
        </form>
        <Fault fault={result.fault} />
      </div>
      {result.report && <Shown report={result.report} isDry={result.isDry === true} />}
    </>
  )
}

async function take({ files, service, subject, replaces }: Wanted, isDry: boolean): Promise<Result> {
  const w = texts()
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  try {
    if (bytes > maxTemplateBytes) throw new ApiFault({ code: 'payload_too_large', message: w.tooLarge })
    const body = {
      ...{ document: await documentsOf(files, subject), dry_run: isDry, replace: replaces },
      ...serviceIn(service),
      ...(projectId.value !== undefined && { project_id: projectId.value }),
    }
    return { isDry, report: await call('POST /v1/templates/service-import', { body }, { isShown: true }) }
  } catch (error) {
    if (error instanceof NotJson)
      return { fault: new ApiFault({ code: 'validation_failed', message: w.notJson({ name: plain(error.file) }) }) }
    return { fault: asFault(error) }
  }
}

function Shown({ report, isDry }: { readonly report: TemplateImportReport; readonly isDry: boolean }): JSX.Element {
  const w = texts()
  const { created, updated, unchanged, refused, templates } = report
  return (
    <section aria-label={w.result}>
      <div class="say" role="status">
        <h2>{isDry ? w.wouldTakeTemplates({ n: writes(report) }) : w.takenTemplates({ n: writes(report) })}</h2>
        {isDry && <p>{w.nothingYet}</p>}
      </div>
      <JobFigures
        of={0}
        done={0}
        figures={[
          { name: isDry ? w.new : w.created, value: created },
          { name: w.updated, value: updated },
          { name: w.unchanged, value: unchanged },
          { name: w.refused, value: refused },
        ]}
      />
      <div class="block">
        <ul class="links">
          {templates.map((one, at) => (
            <li key={at}>
              <Mark name={one.result === 'refused' ? 'failed' : one.result === 'unchanged' ? 'none' : 'ok'} />
              <Template one={one} />
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}

function Template({ one: { id, name, slug, result, findings } }: { readonly one: TemplateImportReport['templates'][number] }): JSX.Element {
  const w = texts()
  return (
    <div>
      <b>{id === null ? <SafeText text={name} /> : <a href={link(`/templates/${id}`)}>{plain(name)}</a>}</b> <code>{plain(slug)}</code>{' '}
      <span class="faint">{w.outcomes[result]}</span>
      {findings.map(({ part, message, line, column }) => (
        <p key={`${part} ${String(line)} ${String(column)} ${message}`}>
          <span class="faint">
            {part}
            {line !== undefined && ` ${String(line)}:${String(column ?? 1)}`}
          </span>{' '}
          <span lang="en">
            <SafeText text={message} />
          </span>
        </p>
      ))}
    </div>
  )
}
