/** Internal notes on a submission: tags, assignee and a note. Visitors never see them. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { mayChange } from '../app/permissions.ts'
import { ChooseField, useBusy, useEdited } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { attempt, change } from '../submissions/changes.ts'
import { texts } from '../submissions/submissions-texts.ts'
import type { FormSubmission, Member } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'

interface TriageProps {
  readonly submission: FormSubmission
  readonly members: readonly Member[]
  readonly onChange: (changed: FormSubmission) => void
}

export function Triage({ submission, members, onChange }: TriageProps): JSX.Element {
  const w = texts()
  const { assignee } = submission
  const save = async (changes: Parameters<typeof change>[1]): Promise<boolean> => {
    const changed = await attempt(() => change(submission, changes))
    if (changed) onChange(changed)
    return changed !== undefined
  }
  const isGone = assignee !== null && !members.some(({ user_id: id }) => id === assignee)
  const answerer = members.find(({ user_id: id }) => id === assignee)
  return (
    <section class="sub-section sub-triage" aria-label={w.triage}>
      <Tags tags={submission.tags} onSave={(tags) => save({ tags })} />
      {mayChange.value ? (
        <ChooseField
          label={w.assignee}
          value={assignee ?? ''}
          onChange={(id) => void save({ assignee: id === '' ? null : id })}
          options={[
            ['', w.unassigned],
            ...members.map(({ user_id: id, name, email }) => [id, plain(name || email)] as const),
            ...(isGone ? [[assignee, w.formerMember] as const] : []),
          ]}
        />
      ) : (
        <p>
          <span class="faint">{w.assignee}</span> {answerer ? <SafeText text={answerer.name || answerer.email} /> : w.unassigned}
        </p>
      )}
      <Note note={submission.note} onSave={(note) => save({ note })} />
    </section>
  )
}

function Tags({ tags, onSave }: { readonly tags: readonly string[]; readonly onSave: (tags: string[]) => Promise<boolean> }): JSX.Element {
  const w = texts()
  const [typed, setTyped] = useState('')
  const add = async (): Promise<void> => {
    const tag = typed.trim()
    if (tag === '' || tags.includes(tag)) return setTyped('')
    if (await onSave([...tags, tag])) setTyped('')
  }
  return (
    <div class="field">
      <label for="submission-tag">{w.tags}</label>
      <div class="sub-tags">
        {tags.map((tag) => (
          <span class="tag big" key={tag}>
            <SafeText text={tag} />
            {mayChange.value && (
              <button aria-label={w.removeTag({ tag: plain(tag) })} onClick={() => void onSave(tags.filter((one) => one !== tag))}>
                <Icon name="close" />
              </button>
            )}
          </span>
        ))}
        {mayChange.value && (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              void add()
            }}
          >
            <input
              id="submission-tag"
              class="input"
              value={typed}
              maxLength={40}
              placeholder={w.addTag}
              autocomplete="off"
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </form>
        )}
        {!mayChange.value && tags.length === 0 && <span id="submission-tag">{w.noTags}</span>}
      </div>
    </div>
  )
}

function Note({ note, onSave }: { readonly note: string; readonly onSave: (note: string) => Promise<boolean> }): JSX.Element {
  const w = texts()
  const { typed, setTyped, newer, take } = useEdited(note)
  const [isBusy, start] = useBusy()
  if (!mayChange.value)
    return note === '' ? (
      <></>
    ) : (
      <p class="prose">
        <span class="faint">{w.note}</span> <SafeText text={note} />
      </p>
    )
  const save = (): void => start(async () => void ((await onSave(typed)) && toast(w.noteSaved)))
  return (
    <form
      class="field sub-note"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <label for="submission-note">{w.note}</label>
      <textarea
        id="submission-note"
        class="input"
        rows={2}
        maxLength={10_000}
        value={typed}
        aria-describedby="submission-note-hint"
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save()
        }}
      />
      <small id="submission-note-hint">{w.noteHint}</small>
      {newer !== undefined && (
        <div class="note warn" role="status">
          <p>
            <b>{w.noteChanged}</b>
            <br />
            {newer === '' ? w.noteRemoved : <SafeText text={newer} />}
          </p>
          <button class="button small" type="button" onClick={take}>
            {w.takeNote}
          </button>
        </div>
      )}
      {typed !== note && (
        <div class="actions">
          <button class="button small" aria-disabled={isBusy}>
            {allTexts().save}
          </button>
        </div>
      )}
    </form>
  )
}
