/** Screen for form submissions: filters, a list with live updates, and the reader. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAll, type AllRows } from '../app/all.ts'
import { showCall } from '../app/api.ts'
import { useChanges } from '../app/live.ts'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useList, useRead } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { type MaybeCut } from '../selection/newest.tsx'
import { FeatureNote, useFlag } from '../parts/feature.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { Reader } from '../submission/reader.tsx'
import type { FormSubmission, ListedForm } from '../wire/api.d.ts'
import { ExportDialog } from './export-dialog.tsx'
import { countsOf, isNarrowed, listLink, staysListed, submissionLink, wantedQuery } from './filter.ts'
import { Filters } from './filters.tsx'
import { Share } from './share.tsx'
import { SubmissionList, type SubmissionsRoute } from './submission-list.tsx'
import '../style/submissions.css' with { type: 'css' }
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './submissions-texts.ts'

export default function Submissions({ rest }: ScreenProps): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const forms = useAll('/v1/forms', { query: project })
  useShownWithoutForms(forms, project)
  const flag = useFlag('forms')
  const [first, , chosenId] = rest
  const isOfAll = first === 'submissions' || query.value.get('in') === 'all'
  const formId = isOfAll ? undefined : first
  const form = forms.read.data?.find(({ id }) => id === formId)
  const title = form ? w.submissionsOf({ form: plain(form.name) }) : w.submissions
  useChanges('form_submissions', forms.reload)
  return (
    <>
      <TopBar
        title={title}
        heading={
          form && (
            <>
              <a href={link(`/forms/${form.id}`)} title={w.openForm}>
                <SafeText text={form.name} />
              </a>
              <span>{w.submissions}</span>
            </>
          )
        }
        isLive={forms.read.state !== 'failed'}
      >
        {(forms.read.data?.length ?? 0) > 0 && (
          <button class="button" onClick={() => go(linkHere({ do: 'export' }), { replaces: true })}>
            <Icon name="download" />
            <span class="shell-label">{w.export}</span>
          </button>
        )}
      </TopBar>
      <FeatureNote flag={flag} />
      <div class={chosenId === undefined ? 'mailbox submissions' : 'mailbox submissions reading'}>
        <Show read={forms.read} reload={forms.reload} failure={w.formsFailed}>
          {(all) =>
            all.length === 0 ? (
              <State title={w.noForms} text={w.noFormsText}>
                {mayChange.value && (
                  <div class="actions">
                    <a class="button primary" href={link('/forms', { new: '1' })}>
                      {allTexts().newForm}
                    </a>
                  </div>
                )}
              </State>
            ) : (
              <Workbench
                key={formId ?? ''}
                forms={all}
                all={forms}
                formId={formId}
                chosen={chosenId === undefined ? undefined : [first ?? '', chosenId]}
              />
            )
          }
        </Show>
      </div>
      {query.value.get('do') === 'export' && forms.read.data && forms.read.data.length > 0 && (
        <ExportDialog all={forms} forms={forms.read.data} formId={formId} onClose={() => go(linkHere({ do: '' }), { replaces: true })} />
      )}
    </>
  )
}

/** Shows the call in the "API call" panel if there are no forms, since there is then no list of submissions. */
function useShownWithoutForms({ read, rows }: AllRows<ListedForm>, project: { readonly project?: string }): void {
  const hasNone = read.state === 'ready' && rows.length === 0
  useEffect(() => {
    if (hasNone) showCall('/v1/forms', { query: project })
  }, [hasNone, project.project])
}

interface WorkbenchProps {
  readonly forms: readonly ListedForm[]
  readonly all: MaybeCut
  /** Id of the form if the list shows only one. */
  readonly formId: string | undefined
  /** Form id and submission id of the open submission. */
  readonly chosen: readonly [formId: string, id: string] | undefined
}

function Workbench({ forms, all, formId, chosen }: WorkbenchProps): JSX.Element {
  const w = texts()
  const isOfAll = formId === undefined
  const route: SubmissionsRoute = isOfAll ? '/v1/forms/submissions' : '/v1/forms/{id}/submissions'
  const input = isOfAll ? { query: wantedQuery(isOfAll) } : { path: { id: formId }, query: wantedQuery(isOfAll) }
  const list = useList<SubmissionsRoute>(route, input)
  const members = useRead('/v1/members', {}).data?.data ?? []
  const [isFiltering, setFiltering] = useState(false)
  useEffect(() => setFiltering(false), [query.value.toString(), formId])
  const rows = list.read.data ?? []
  const [chosenForm, chosenId] = chosen ?? []
  const open = (row: FormSubmission | undefined): void => go(row ? submissionLink(row, formId) : listLink(formId))
  const next = rows[rows.findIndex(({ id }) => id === chosenId) + 1]
  const keep = (changed: FormSubmission): void => list.change((now) => now.map((row) => (row.id === changed.id ? changed : row)))
  const settle = (changed: FormSubmission | string): void => {
    if (typeof changed === 'string') list.change((now) => now.filter(({ id }) => id !== changed))
    else if (staysListed(changed.status)) keep(changed)
    else list.change((now) => now.filter(({ id }) => id !== changed.id))
    open(next)
  }
  const own = forms.filter(({ id }) => formId === undefined || id === formId)
  const isUntouched = list.read.state === 'ready' && rows.length === 0 && !list.more && countsOf(own).all === 0
  if (isUntouched && chosenId === undefined && !isNarrowed())
    return (
      <>
        <Filters forms={forms} all={all} formId={formId} rows={rows} members={members} isShown={false} />
        <Share forms={forms} formId={formId} onChange={list.reload} />
      </>
    )
  return (
    <>
      <Filters forms={forms} all={all} formId={formId} rows={rows} members={members} isShown={isFiltering} />
      <SubmissionList
        {...{ route, input, list, forms, members, formId, chosenId, isFiltering }}
        onFilter={() => setFiltering(!isFiltering)}
        onOpen={open}
      />
      <section class="reader" aria-label={w.submission}>
        {chosenForm === undefined || chosenId === undefined ? (
          <State title={w.nothingChosen} text={mayChange.value ? w.nothingChosenText : undefined} />
        ) : (
          <Reader
            key={chosenId}
            {...{ formId: chosenForm, submissionId: chosenId, members, hasNext: next !== undefined }}
            form={forms.find(({ id }) => id === chosenForm)}
            back={listLink(formId)}
            onChange={keep}
            onDone={settle}
            onUndone={list.reload}
            onNext={() => open(next)}
          />
        )}
      </section>
    </>
  )
}
