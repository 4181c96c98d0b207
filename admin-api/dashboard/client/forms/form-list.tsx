/** List of forms with search, filters and the number of new submissions. The address holds the filters. */
import type { JSX } from 'preact'
import { useChanges } from '../app/live.ts'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { useList } from '../app/query.ts'
import { Pills } from '../parts/controls.tsx'
import { FeatureNote, useFlag } from '../parts/feature.tsx'
import { List, SearchBox, type Column } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { NothingMatches, State } from '../parts/states.tsx'
import { exactTime, number, shortTime } from '../parts/time.ts'
import { NewLink, TopBar } from '../parts/top-bar.tsx'
import type { FormFigures, ListedForm } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { statusMarks, statuses, type FormStatus } from './form-status.ts'
import { texts } from './forms-texts.ts'
import { conversionOf, LastDays, useLastDays } from './last-days.tsx'
import { NewForm } from './new-form.tsx'

const pageSize = 50

export function FormList(): JSX.Element {
  const w = texts()
  const text = query.value.get('q') ?? ''
  const status = statuses.find((one) => one === query.value.get('status'))
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList('/v1/forms', {
    query: { ...project, ...(text !== '' && { q: text }), ...(status && { status }) },
  })
  const flag = useFlag('forms')
  const isMaking = isMakingNew(mayChange)
  const lastDays = useLastDays(project)
  const follow = (): void => {
    if ((list.read.data?.length ?? 0) <= pageSize) list.reload() // a reload would drop further loaded pages
  }
  useChanges('forms', follow)
  useChanges('form_submissions', follow)
  return (
    <>
      <TopBar title={w.title} isLive={list.read.state !== 'failed'}>
        {mayChange.value && <NewLink label={w.newForm} />}
      </TopBar>
      <div class="sheet">
        <FeatureNote flag={flag} />
        <SearchBox id="form-search" label={w.search} text={text}>
          <Pills
            label={w.status}
            value={status ?? ''}
            onChoose={(next) => go(linkHere({ status: next }))}
            pills={[
              { value: '', label: w.anyStatus },
              ...statuses.map((one) => ({
                value: one,
                label: (
                  <>
                    <Mark name={statusMarks[one]} />
                    {w.statuses[one]}
                  </>
                ),
              })),
            ]}
          />
        </SearchBox>
        <List
          label={w.title}
          list={list}
          failure={w.listFailed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/forms/${id}`)}
          empty={<Nothing isFiltered={text !== '' || status !== undefined} />}
          columns={columns(lastDays)}
          narrow={({ name, status: one, version, submissions_new: fresh, updated_at: at }) => [
            <Mark name={statusMarks[one]} />,
            <SafeText text={name} />,
            [
              w.statuses[one],
              version === 0 ? w.neverPublished : w.versionNumber({ n: version }),
              ...(fresh > 0 ? [w.newCount({ n: fresh })] : []),
            ].join(' · '),
            shortTime(at, true),
          ]}
        />
      </div>
      {isMaking && <NewForm onClose={() => go(linkHere({ new: '' }), { replaces: true })} />}
    </>
  )
}

const StatusOf = ({ status }: { readonly status: FormStatus }): JSX.Element => (
  <span class="status">
    <Mark name={statusMarks[status]} />
    {texts().statuses[status]}
  </span>
)

function columns(lastDays: ReadonlyMap<string, FormFigures> | undefined): readonly Column<ListedForm>[] {
  const w = texts()
  const projectOf = (id: string): string => projects.value.find((one) => one.id === id)?.name ?? ''
  return [
    {
      head: allTexts().name,
      class: 'strong',
      cell: ({ id, name }) => (
        <a href={link(`/forms/${id}`)}>
          <SafeText text={name} />
        </a>
      ),
    },
    { head: w.status, class: 'c-status', cell: ({ status }) => <StatusOf status={status} /> },
    { head: w.version, class: 'c-time c-spare num', cell: ({ version }) => (version === 0 ? '–' : version) },
    {
      head: w.newOnes,
      class: 'c-time num',
      cell: ({ id, submissions_new: fresh }) => (
        <a href={link(`/forms/${id}/submissions`)} aria-label={w.newOf({ n: fresh })}>
          {fresh > 0 ? <b>{number(fresh)}</b> : '0'}
        </a>
      ),
    },
    { head: w.lastDays, class: 'c-days', cell: ({ id }) => <LastDays figures={lastDays?.get(id)} /> },
    { head: w.conversion, class: 'c-time num', cell: ({ id }) => conversionOf(lastDays?.get(id)) },
    ...(projectId.value === undefined && projects.value.length > 1
      ? [{ head: w.project, class: 'c-spare', cell: ({ project_id: id }: ListedForm) => <SafeText text={projectOf(id)} /> }]
      : []),
    {
      head: w.changed,
      class: 'c-status',
      cell: ({ updated_at: at }) => (
        <time datetime={at} title={exactTime(at)}>
          {shortTime(at)}
        </time>
      ),
    },
  ]
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element {
  const w = texts()
  if (isFiltered)
    return (
      <NothingMatches title={w.nothingMatches} text={w.nothingMatchesText({ all: w.allForms })} all={linkHere({ q: '', status: '' })} />
    )
  return (
    <State title={w.none} text={w.noneText}>
      {mayChange.value && (
        <div class="actions">
          <a class="button primary" href={linkHere({ new: '1' })}>
            {w.newForm}
          </a>
        </div>
      )}
    </State>
  )
}
