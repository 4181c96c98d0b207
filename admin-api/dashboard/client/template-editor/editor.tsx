/** Template editor: parts on the left, preview on the right, findings and versions below. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { useKeys } from '../app/keys.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { showFault, useRead } from '../app/query.ts'
import { Tabs, useBusy } from '../parts/controls.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Template } from '../wire/api.d.ts'
import { CodeField, type Place } from './code-field.tsx'
import { contentOf, draftOf, isSame, keepDraft, keptDraft, type Draft } from './draft.ts'
import { Findings } from './findings.tsx'
import { Preview } from './preview.tsx'
import { TemplateMenu } from '../templates/template-menu.tsx'
import { texts } from '../templates/template-texts.ts'
import { TestSend } from '../templates/test-send.tsx'
import { useCheck, type Finding } from './use-check.ts'
import { Variables } from './variables.tsx'
import { Versions } from '../templates/versions.tsx'

export function TemplateScreen({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/templates/{id}', { path: { id } }, { isShown: true })
  const [saved, setSaved] = useState<Template>()
  const template = saved ?? read.data
  if (template) return <Editor template={template} onSaved={setSaved} />
  return (
    <>
      <TopBar title={w.title} heading={<a href={link('/templates')}>{w.title}</a>} />
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.templateFailed}>
          {() => null}
        </Show>
      </div>
    </>
  )
}

const parts = ['html', 'text', 'variables', 'versions'] as const
type Part = (typeof parts)[number]

const partOf = (path: string): Part => (path === 'text_tmpl' ? 'text' : /^(schema_json|variables)/.test(path) ? 'variables' : 'html')

interface EditorProps {
  readonly template: Template
  readonly onSaved: (template: Template) => void
}

/** State of the draft, and the actions that save or discard it. */
function useDraft({ template, onSaved }: EditorProps) {
  const { id } = template
  const saved = draftOf(template)
  const [draft, setDraft] = useState<Draft>(() => keptDraft(id) ?? saved)
  const [isRestored] = useState(() => keptDraft(id) !== undefined)
  const [isBusy, start] = useBusy()
  const isChanged = !isSame(draft, saved)
  useEffect(() => keepDraft(id, isChanged ? draft : undefined), [draft, isChanged])
  useLeaving(isChanged)
  /** Takes over a saved template. Keeps text that was typed after `sent`. */
  const take = (next: Template, sent?: Draft): void => {
    setDraft((now) => (sent === undefined || now === sent ? draftOf(next) : now))
    onSaved(next)
  }
  const save = async (): Promise<void> => {
    const next = await call('PUT /v1/templates/{id}', { path: { id }, body: contentOf(draft) })
    const isBeside = next.current_version > template.current_version + 1
    toast(isBeside ? texts().savedBeside({ n: next.current_version }) : texts().saved({ n: next.current_version }))
    take(next, draft)
  }
  const trySave = (): void => {
    if (!mayChange.value) return
    if (isChanged) start(() => save().then(undefined, showFault))
    else toast(texts().nothingToSave)
  }
  const change = (next: Partial<Draft>): void => setDraft((before) => ({ ...before, ...next }))
  return { draft, change, discard: () => setDraft(saved), take, save, trySave, isChanged, isBusy, isRestored: isRestored && isChanged }
}

const show = (next: Part): void => go(linkHere({ part: next === 'html' ? '' : next, version: '' }), { replaces: true })

function Editor({ template, onSaved }: EditorProps): JSX.Element {
  const w = texts()
  const { draft, change, discard, take, save, trySave, isChanged, isBusy, isRestored } = useDraft({ template, onSaved })
  const [place, setPlace] = useState<Place>()
  const [isTesting, setTesting] = useState(false)
  const check = useCheck(template.id, draft)
  const part = parts.find((one) => one === query.value.get('part')) ?? 'html'
  useCommands({ s: trySave, Enter: () => mayChange.value && setTesting(true) })
  const partKeys = Object.fromEntries(parts.map((one, i) => [String(i + 1), () => show(one)]))
  useKeys({ Escape: () => go(link('/templates')), ...partKeys }, [])
  const jump = ({ path, line = 1, column = 1 }: Finding): void => {
    show(partOf(path))
    if (path === 'subject_tmpl') document.getElementById('template-subject')?.focus()
    else setPlace({ line, column })
  }
  return (
    <>
      <Top template={template} isChanged={isChanged} isBusy={isBusy} onSave={trySave} onTest={() => setTesting(true)} onSaved={onSaved} />
      <div class="template">
        <section class="writing" aria-label={template.name}>
          <Notes isRestored={isRestored} onDiscard={discard} />
          <SubjectField value={draft.subject} onChange={(subject) => change({ subject })} />
          <Tabs label={w.parts} value={part} onChoose={(next) => show(next as Part)} tabs={tabsOf(template)} />
          <div role="tabpanel" aria-label={w[part]} class="template-part">
            {(part === 'html' || part === 'text') && (
              <CodeField
                key={part}
                label={w[part]}
                value={draft[part]}
                onChange={(text) => change({ [part]: text })}
                isReadOnly={!mayChange.value}
                place={place}
              />
            )}
            {part === 'variables' && <Variables draft={draft} check={check} onSchema={(schema) => change({ schema })} />}
            {part === 'versions' && <Versions template={template} onRestored={(next) => take(next)} />}
          </div>
          <Findings check={check} onJump={jump} />
        </section>
        <Preview preview={check.preview} read={check.read} isStale={check.problems.length > 0} />
      </div>
      {isTesting && (
        <TestSend template={template} sample={check.sample} before={isChanged ? save : undefined} onClose={() => setTesting(false)} />
      )}
    </>
  )
}

const tabsOf = ({ current_version: count }: Template) =>
  parts.map((id) => ({ id, label: texts()[id], ...(id === 'versions' && { count }) }))

interface TopProps extends EditorProps {
  readonly isChanged: boolean
  readonly isBusy: boolean
  readonly onSave: () => void
  readonly onTest: () => void
}

function Top({ template, isChanged, isBusy, onSave, onTest, onSaved }: TopProps): JSX.Element {
  const w = texts()
  const { name, current_version: version } = template
  const heading = (
    <>
      <a href={link('/templates')}>{w.title}</a>
      <SafeText text={name} />
    </>
  )
  return (
    <TopBar title={plain(name)} heading={heading}>
      <span class={isChanged ? 'tag warn' : 'tag'} role="status">
        {isChanged ? w.unsaved : w.versionNumber({ n: version })}
      </span>
      {mayChange.value && (
        <>
          <TemplateMenu template={template} onSaved={onSaved} onTest={onTest} />
          <button class="button not-on-phones" onClick={onTest} aria-keyshortcuts="Control+Enter Meta+Enter">
            {w.test}
          </button>
          <button class="button primary" onClick={onSave} aria-disabled={isBusy || !isChanged} aria-keyshortcuts="Control+S Meta+S">
            {w.save}
          </button>
        </>
      )}
    </TopBar>
  )
}

function Notes({ isRestored, onDiscard }: { readonly isRestored: boolean; readonly onDiscard: () => void }): JSX.Element | null {
  const w = texts()
  if (!mayChange.value) return <p class="note">{w.readOnly}</p>
  if (!isRestored) return null
  return (
    <div class="note warn">
      <p>{w.restoredDraft}</p>
      <button
        class="button small"
        onClick={() => {
          onDiscard()
          toast(w.discarded)
        }}
      >
        {w.discard}
      </button>
    </div>
  )
}

const SubjectField = ({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }): JSX.Element => (
  <div class="field subject-field">
    <label for="template-subject">{texts().subject}</label>
    <input
      id="template-subject"
      class="input"
      value={value}
      readOnly={!mayChange.value}
      autocomplete="off"
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  </div>
)

/** The browser asks for confirmation before it closes a tab with unsaved changes. */
function useLeaving(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return undefined
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isChanged])
}

/** Binds Ctrl/Cmd shortcuts, which also work in text fields. Escape leaves a text field first. */
function useCommands(commands: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const run = event.metaKey || event.ctrlKey ? commands[event.key] : undefined
      if (run && !document.querySelector('dialog[open]')) {
        event.preventDefault()
        run()
      }
      if (event.key === 'Escape' && event.target instanceof HTMLElement && event.target.matches('.template textarea, .template input')) {
        event.preventDefault()
        event.target.blur()
      }
    }
    document.addEventListener('keydown', onKey, true)
    return () => document.removeEventListener('keydown', onKey, true)
  })
}
