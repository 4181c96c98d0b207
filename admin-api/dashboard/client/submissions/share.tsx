/** Empty state of the inbox: ways to publish a form. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { everyMs, useChanges } from '../app/live.ts'
import { link } from '../app/location.ts'
import { useRead, useTicks } from '../app/query.ts'
import { ChooseField, copy } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import type { ListedForm } from '../wire/api.d.ts'
import { listLink } from './filter.ts'
import { texts } from './submissions-texts.ts'

interface ShareProps {
  readonly forms: readonly ListedForm[]
  /** Id of the form if the inbox shows only one. */
  readonly formId: string | undefined
  /** Called when a submission may have arrived. */
  readonly onChange: () => void
}

const lookAgainMs = 15_000

export function Share({ forms, formId, onChange }: ShareProps): JSX.Element {
  const w = texts()
  useChanges('form_submissions', onChange)
  useTicks(everyMs(lookAgainMs), onChange)
  const own = formId === undefined ? forms : forms.filter(({ id }) => id === formId)
  const live = own.filter(({ status }) => status === 'published')
  const [chosenId, setChosenId] = useState<string>()
  const chosen = live.find(({ id }) => id === chosenId) ?? live[0]
  if (!chosen) return <NotLive form={own[0]} isOnly={own.length === 1} />
  return (
    <section class="share-form" aria-label={w.bringVisitors}>
      <State title={w.nothingYet} text={w.nothingYetText} />
      {live.length > 1 && (
        <ChooseField
          label={w.form}
          value={chosen.id}
          onChange={setChosenId}
          options={live.map(({ id, name }) => [id, plain(name)] as const)}
        />
      )}
      <Ways form={chosen} isOne={formId !== undefined && forms.length > 1} />
    </section>
  )
}

function Ways({ form: { id }, isOne }: { readonly form: ListedForm; readonly isOne: boolean }): JSX.Element {
  const w = texts()
  const read = useRead('POST /v1/forms/{id}/embed-snippet', { path: { id }, body: { mode: 'iframe' } })
  return (
    <Show read={read} reload={read.reload} failure={w.shareFailed} rows={3}>
      {({ url, html }) => (
        <>
          <Copied title={w.shareLink} text={url} />
          <Copied title={w.embedCode} text={html} />
          <div class="actions">
            <a class="button" href={url} target="_blank" rel="noopener">
              {w.openPage}
            </a>
            <a class="button" href={link(`/forms/${id}/embed`)}>
              {w.moreWays}
            </a>
            {isOne && (
              <a class="button quiet" href={listLink(undefined)}>
                {w.allForms}
              </a>
            )}
          </div>
        </>
      )}
    </Show>
  )
}

const Copied = ({ title, text }: { readonly title: string; readonly text: string }): JSX.Element => (
  <div class="share-way">
    <h3>{title}</h3>
    <button class="button small" type="button" aria-label={texts().copyOf({ what: title })} onClick={() => void copy(text)}>
      <Icon name="copy" />
      {texts().copy}
    </button>
    <pre class="code wrap" tabIndex={0}>
      {text}
    </pre>
  </div>
)

/** Note that visitors can open only published forms. */
function NotLive({ form, isOnly }: { readonly form: ListedForm | undefined; readonly isOnly: boolean }): JSX.Element {
  const w = texts()
  return (
    <section class="share-form" aria-label={w.bringVisitors}>
      <State title={w.nothingYet} text={w.notLiveText}>
        <div class="actions">
          <a class="button primary" href={link(form && isOnly ? `/forms/${form.id}` : '/forms')}>
            {form && isOnly ? w.openForm : w.openForms}
          </a>
        </div>
      </State>
    </section>
  )
}
