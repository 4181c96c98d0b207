/** Page of a form: status and save state, tabs with separate addresses, and publishing. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Definition } from '#core/forms/definition/definition.ts'
import { diffDefinitions } from '#core/forms/definition/diff.ts'
import { showCall } from '../app/api.ts'
import { later } from '../app/later.tsx'
import { useKeys } from '../app/keys.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { FaultText, Show } from '../parts/states.tsx'
import { exactTime, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Form, FormDraft, FormVersion, ListedForm } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { FormMenu } from './form-menu.tsx'
import { statusMarks } from './form-status.ts'
import { texts } from './forms-texts.ts'
import type { PartProps } from './part-props.ts'
import { PublishDialog } from './publish-dialog.tsx'
import { useDraft, wholeOf, type Editing } from './use-draft.ts'

const parts = {
  build: later<PartProps>(() => import('../form-designer/build.tsx')),
  logic: later<PartProps>(() => import('../form-logic/logic.tsx')),
  theme: later<PartProps>(() => import('../form-parts/theme.tsx')),
  thanks: later<PartProps>(() => import('../form-parts/thanks.tsx')),
  settings: later<PartProps>(() => import('../form-parts/settings.tsx')),
  notifications: later<PartProps>(() => import('../form-parts/notifications.tsx')),
  embed: later<PartProps>(() => import('../form-parts/embed.tsx')),
  versions: later<PartProps>(() => import('../form-parts/versions.tsx')),
  test: later<PartProps>(() => import('../form-parts/trial.tsx')),
  analytics: later<PartProps>(() => import('../form-parts/analytics.tsx')),
} as const

type PartName = keyof typeof parts
const partNames = Object.keys(parts) as readonly PartName[]

const pathOf = (id: string, part: string): string => (part === 'build' ? `/forms/${id}` : `/forms/${id}/${part}`)

export function FormScreen({ id, part }: { readonly id: string; readonly part: string | undefined }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/forms/{id}', { path: { id } })
  const draft = useRead('/v1/forms/{id}/draft', { path: { id } }, { isShown: true })
  const [changed, setChanged] = useState<Form>()
  const form = read.data && { ...read.data, ...changed }
  const [first, setFirst] = useState<FormDraft>()
  if (draft.data && !first) setFirst(draft.data)
  const name = partNames.find((one) => one === part) ?? 'build'
  // a tab replaces this call when it reads data itself
  useLayoutEffect(() => showCall('/v1/forms/{id}/draft', { path: { id } }), [name])
  if (form && first) return <Loaded form={form} first={first} part={name} onChanged={setChanged} />
  const failed = read.state === 'failed' ? read : draft
  return (
    <>
      <TopBar title={w.title} heading={<a href={link('/forms')}>{w.title}</a>} />
      <div class="sheet">
        <Show<unknown>
          read={failed}
          reload={() => {
            read.reload()
            draft.reload()
          }}
          failure={w.formFailed}
        >
          {() => null}
        </Show>
      </div>
    </>
  )
}

interface LoadedProps {
  readonly form: ListedForm
  readonly first: FormDraft
  readonly part: PartName
  readonly onChanged: (form: Form) => void
}

function Loaded({ form, first, part, onChanged }: LoadedProps): JSX.Element {
  const w = texts()
  const editing = useDraft(first)
  const { definition, change, flush } = editing
  const Part = parts[part]
  const isPublishing = mayChange.value && query.value.get('do') === 'publish'
  const live = useRead(
    '/v1/forms/{id}/versions/{version}',
    form.version === 0 ? undefined : { path: { id: form.id, version: form.version } },
  ).data
  const isLive = useMemo(() => form.status === 'published' && isAsLive(live, definition), [form.status, live, definition])
  const publish = (): void => (isLive ? toast(w.nothingToPublish) : go(linkHere({ do: 'publish' })))
  useDesignerKeys(editing, publish)
  const shown = { ...form, name: definition.name }
  const canPublish = mayChange.value && form.status !== 'archived'
  return (
    <>
      <TopBar
        title={plain(definition.name)}
        heading={
          <>
            <a href={link('/forms')}>{w.title}</a>
            <SafeText text={definition.name} />
          </>
        }
      >
        <FormMenu form={shown} onChanged={onChanged} onRenamed={(name) => change((before) => ({ ...before, name }))} flush={flush} />
        {form.status === 'published' && <PageLink id={form.id} />}
        {canPublish && (
          <button
            class="button primary"
            onClick={publish}
            aria-disabled={isLive}
            title={isLive ? w.nothingToPublish : undefined}
            aria-keyshortcuts="Control+Enter Meta+Enter"
          >
            {w.publish({ n: form.version + 1 })}
          </button>
        )}
      </TopBar>
      <FormTabs form={form} part={part} rules={definition.logic.rules.length} />
      <Truth form={form} editing={editing} />
      <Notes form={form} editing={editing} />
      <div class="form-part">
        <Part form={form} editing={editing} onChanged={onChanged} />
      </div>
      {isPublishing && (
        <PublishDialog
          form={form}
          live={live}
          editing={editing}
          onClose={() => go(linkHere({ do: '' }), { replaces: true })}
          onPublished={(next) => {
            onChanged(next)
            toast(next.version === form.version && form.status === 'published' ? w.nothingToPublish : w.published({ n: next.version }))
          }}
        />
      )}
    </>
  )
}

const isAsLive = (live: FormVersion | undefined, draft: Definition): boolean =>
  live !== undefined && diffDefinitions(wholeOf(live.definition), draft).length === 0

/** Link to the public page of the form, which may be on a custom domain. */
function PageLink({ id }: { readonly id: string }): JSX.Element | null {
  const w = texts()
  const { data } = useRead('POST /v1/forms/{id}/embed-snippet', { path: { id }, body: { mode: 'link' } })
  return data ? (
    <a class="button wide-only" href={data.url} target="_blank" rel="noopener" title={w.open}>
      {w.preview}
    </a>
  ) : null
}

interface FormTabsProps {
  readonly form: ListedForm
  readonly part: PartName
  /** Number of logic rules. */
  readonly rules: number
}

function FormTabs({ form, part, rules }: FormTabsProps): JSX.Element {
  const w = texts()
  const bar = useRef<HTMLElement>(null)
  useEffect(() => bar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [part])
  return (
    <nav class="form-tabs" aria-label={w.tabsOf} ref={bar}>
      {partNames.map((one) => (
        <a key={one} href={link(pathOf(form.id, one))} aria-current={one === part ? 'page' : undefined}>
          {w.tabs[one]}
          {one === 'versions' && form.version > 0 && <span>{form.version}</span>}
          {one === 'logic' && rules > 0 && <span>{rules}</span>}
        </a>
      ))}
      <a class="to-submissions" href={link(`/forms/${form.id}/submissions`)}>
        <Icon name="submissions" />
        {w.submissions}
        {form.submissions_new > 0 && <span>{w.newCount({ n: form.submissions_new })}</span>}
      </a>
    </nav>
  )
}

/** Status line: the published version, the save state, and undo and redo. */
function Truth({ form, editing }: Omit<PartProps, 'onChanged'>): JSX.Element {
  const w = texts()
  const { saving, savedAt, check, undo, redo } = editing
  const state = { draft: w.notLive, published: w.live({ n: form.version }), paused: w.isPaused, archived: w.isArchived }[form.status]
  const saved = {
    saved: w.saved({ time: shortTime(savedAt, true) }),
    unsaved: w.unsaved,
    saving: w.saving,
    failed: w.saveFailed,
    conflict: w.unsaved,
  }[saving.state]
  return (
    <div class="form-truth">
      <p>
        <Mark name={statusMarks[form.status]} />
        <b>{state}</b>
        <span class="faint" role="status" title={exactTime(savedAt)}>
          {saved}
        </span>
        {check.warnings.length > 0 && <span class="tag warn">{w.warnings({ n: check.warnings.length })}</span>}
      </p>
      {mayChange.value && (
        <div class="actions">
          <Step label={w.undo} keys="Control+Z Meta+Z" icon="replay" run={undo} />
          <Step label={w.redo} keys="Control+Shift+Z Meta+Shift+Z" icon="refresh" run={redo} />
        </div>
      )}
    </div>
  )
}

interface StepProps {
  readonly label: string
  readonly keys: string
  readonly icon: 'replay' | 'refresh'
  readonly run: (() => void) | undefined
}

const Step = ({ label, keys, icon, run }: StepProps): JSX.Element => (
  <button class={`button quiet small ${icon}`} type="button" aria-disabled={!run} aria-keyshortcuts={keys} onClick={() => run?.()}>
    <Icon name={icon} />
    <span class="step-label">{label}</span>
  </button>
)

function Notes({ form, editing: { saving, takeTheirs, keepMine, retry } }: Omit<PartProps, 'onChanged'>): JSX.Element | null {
  const w = texts()
  if (saving.state === 'conflict') {
    const { edited_by: who = '', edited_at: when = '' } = saving.fault.details as { edited_by?: string; edited_at?: string }
    return (
      <Note>
        <p>
          <b>{w.conflict}</b> {w.conflictText({ who, when: when === '' ? '' : shortTime(when) })}
        </p>
        <button class="button small" onClick={() => void takeTheirs().then(() => toast(w.tookTheirs))}>
          {w.takeTheirs}
        </button>
        <button class="button small" onClick={keepMine}>
          {w.keepMine}
        </button>
      </Note>
    )
  }
  if (saving.state === 'failed')
    return (
      <Note>
        <p>
          <b>{w.saveFailed}</b> <FaultText fault={saving.fault} />
        </p>
        <button class="button small" onClick={retry}>
          {allTexts().tryAgain}
        </button>
      </Note>
    )
  if (!mayChange.value) return <p class="note form-note">{w.readOnly}</p>
  return form.status === 'archived' ? <p class="note form-note">{w.archivedNote}</p> : null
}

const Note = ({ children }: { readonly children: ComponentChildren }): JSX.Element => (
  <div class="note warn form-note" role="alert">
    <Mark name="warning" />
    {children}
  </div>
)

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && /^(input|textarea|select)$/i.test(target.tagName) && !target.matches('[type=checkbox], [type=radio]')

/** Ctrl/Cmd+Z and Shift+Z outside of inputs, Ctrl/Cmd+Enter everywhere. Escape leaves an input first, then the form. */
function useDesignerKeys({ undo, redo }: Editing, publish: () => void): void {
  useKeys({ Escape: () => go(link('/forms')) }, [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (document.querySelector('dialog[open]')) return
      if (event.key === 'Escape' && isWriting(event.target) && event.target instanceof HTMLElement) {
        event.preventDefault()
        event.target.blur()
        return
      }
      if (!event.metaKey && !event.ctrlKey) return
      const isStep = event.key.toLowerCase() === 'z' && !isWriting(event.target)
      const run = event.key === 'Enter' ? publish : isStep ? (event.shiftKey ? redo : undo) : undefined
      if (!run || !mayChange.value) return
      event.preventDefault()
      event.stopPropagation()
      run()
    }
    document.addEventListener('keydown', onKey, true)
    return () => document.removeEventListener('keydown', onKey, true)
  })
}
