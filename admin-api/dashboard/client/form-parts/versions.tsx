/** Versions of a form and the draft: differences, and rollback to an older version. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Definition } from '#core/forms/definition/definition.ts'
import { call } from '../app/api.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useList, useRead } from '../app/query.ts'
import { Changes } from '../form-designer/changes.tsx'
import type { PartProps } from '../forms/part-props.ts'
import { wholeOf } from '../forms/use-draft.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Show, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { VersionList, type VersionEntry } from '../versions/version-list.tsx'
import type { FormVersionSummary } from '../wire/api.d.ts'
import { texts } from './parts-texts.ts'

/** 0 is the draft. */
const numberIn = (name: string, most: number): number | undefined => {
  const given = Number(query.value.get(name) ?? Number.NaN)
  return Number.isInteger(given) && given >= 0 && given <= most ? given : undefined
}

export default function VersionsPart({ form, editing, onChanged }: PartProps): JSX.Element {
  const w = texts()
  const list = useList('/v1/forms/{id}/versions', { path: { id: form.id } })
  const chosen = numberIn('version', form.version) ?? 0
  const before = numberIn('against', form.version) ?? (chosen === 0 ? form.version : chosen - 1)
  const [isRolling, setRolling] = useState(false)
  const name = (version: number): string => (version === 0 ? w.draft : w.versionNumber({ n: version }))
  if (form.version === 0) return <State title={w.noVersions} text={w.noVersionsText} />
  return (
    <div class="versions-of-form">
      <VersionList
        label={w.compareWith}
        list={list}
        failure={w.versionsFailed}
        draft={{
          key: 0,
          href: linkHere({ version: '', against: '' }),
          isChosen: chosen === 0,
          sign: '·',
          title: w.draft,
          note: w.notPublished,
        }}
        entryOf={(row) => entryOf(form, row, chosen)}
      />
      <section class="compared-versions" aria-label={w.against({ what: name(chosen), other: name(before) })} tabIndex={0}>
        <div class="actions">
          <h2>{before === 0 ? name(chosen) : w.against({ what: name(chosen), other: name(before) })}</h2>
          {chosen > 0 && (
            <a class="button small" href={link(`/forms/${form.id}/submissions`, { status: 'all', version: String(chosen) })}>
              {w.submissionsOf}
            </a>
          )}
          {mayChange.value && chosen > 0 && chosen !== form.version && form.status !== 'archived' && (
            <button class="button small" onClick={() => setRolling(true)}>
              {w.rollBack({ n: chosen })}
            </button>
          )}
        </div>
        <ChooseField
          label={w.compareWith}
          value={String(before)}
          onChange={(next) => go(linkHere({ against: next }), { replaces: true })}
          options={[
            ...(chosen === 1 ? [['0', '–'] as const] : []),
            ...Array.from({ length: form.version }, (_, i) => form.version - i)
              .filter((version) => version !== chosen)
              .map((version) => [String(version), w.versionNumber({ n: version })] as const),
          ]}
        />
        {before === 0 ? <p class="faint">{w.first}</p> : <Compared form={form} editing={editing} chosen={chosen} before={before} />}
      </section>
      {isRolling && (
        <RollBack
          form={form}
          version={chosen}
          onClose={() => setRolling(false)}
          onDone={(next) => {
            onChanged(next)
            list.reload()
            go(linkHere({ version: '', against: '' }), { replaces: true })
            toast(w.rolledBack({ n: next.version }))
          }}
        />
      )}
    </div>
  )
}

const entryOf = (form: PartProps['form'], row: FormVersionSummary, chosen: number): VersionEntry => ({
  ...{ key: row.version, sign: String(row.version), title: titleOf(row), at: row.created_at, isChosen: chosen === row.version },
  href: linkHere({ version: String(row.version), against: '' }),
  tag: row.version === form.version && form.status === 'published' ? texts().liveNow : undefined,
})

/** Returns the note of a version, or the number of the version that it restores. */
const titleOf = ({ note, rolled_back_to: back }: FormVersionSummary): string =>
  note === '' ? (back === null ? texts().noNote : texts().backTo({ n: back })) : note

interface ComparedProps extends Pick<PartProps, 'form' | 'editing'> {
  readonly chosen: number
  readonly before: number
}

function Compared({ form, editing, chosen, before }: ComparedProps): JSX.Element {
  const w = texts()
  const read = (version: number) => (version === 0 ? undefined : { path: { id: form.id, version } })
  const [one, other] = [
    useRead('/v1/forms/{id}/versions/{version}', read(before)),
    useRead('/v1/forms/{id}/versions/{version}', read(chosen)),
  ]
  const after: Definition | undefined = chosen === 0 ? editing.definition : other.data && wholeOf(other.data.definition)
  const failed = other.state === 'failed' ? other : one
  return (
    <Show read={failed} reload={failed.reload} failure={w.versionsFailed} rows={4}>
      {() => (one.data && after ? <Changes before={wholeOf(one.data.definition)} after={after} /> : null)}
    </Show>
  )
}

interface RollBackProps extends Pick<PartProps, 'form'> {
  readonly version: number
  readonly onClose: () => void
  readonly onDone: PartProps['onChanged']
}

function RollBack({ form, version, onClose, onDone }: RollBackProps): JSX.Element {
  const w = texts()
  const [note, setNote] = useState('')
  const run = async (): Promise<void> => {
    const next = await call('POST /v1/forms/{id}/versions/{version}/rollback', { path: { id: form.id, version }, body: { note } })
    onClose()
    onDone(next)
  }
  return (
    <FormDialog title={w.rollBack({ n: version })} submit={w.rollBack({ n: version })} onClose={onClose} onSubmit={run}>
      {(fault) => (
        <>
          <p class="faint">{w.rollBackText}</p>
          <TextField label={w.note} value={note} onChange={setNote} fault={fault?.fields.get('note')} />
        </>
      )}
    </FormDialog>
  )
}
