/** Form of an alert channel, for creation and changes. The fields of the target depend on the kind. */
import type { JSX } from 'preact'
import { mayAdminister } from '../app/permissions.ts'
import { projectRows, projects } from '../app/projects.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog, type Fields } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './alerts-texts.ts'
import {
  groups,
  kinds,
  languageNames,
  targetFields,
  type ChannelDraft,
  type Group,
  type Kind,
  type Language,
  type Severity,
  type TargetField,
} from './channel-draft.ts'

interface FormProps {
  readonly title: string
  readonly submit?: string
  readonly begin: ChannelDraft
  readonly isNew?: boolean
  readonly onClose: () => void
  /** Returns the confirmation text. */
  readonly onSave: (draft: ChannelDraft) => Promise<string | undefined>
}

export function ChannelForm({ isNew = false, ...rest }: FormProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  return (
    <EditDialog {...rest}>
      {(fields) => {
        const { at, draft } = fields
        const { kind } = draft
        return (
          <>
            {isNew && (
              <ChooseField
                label={w.kind}
                hint={kind === 'members' ? undefined : w.kindHints[kind]}
                options={kinds.map((one) => [one, w.kinds[one]])}
                {...at('kind')}
                onChange={(next) => at('kind').onChange(next as Kind)}
              />
            )}
            <TextField label={common.name} {...at('name')} />
            {kind !== 'members' && <Target kind={kind} isNew={isNew} {...fields} />}
            {isNew && <Scope {...fields} />}
            <ChooseField
              label={w.severity}
              options={[
                ['warning', w.errorsAndWarnings],
                ['error', w.errorsOnly],
              ]}
              {...at('severity', 'min_severity')}
              onChange={(next) => at('severity').onChange(next as Severity)}
            />
            <details class="more-settings">
              <summary>{w.moreSettings}</summary>
              <Details {...fields} />
            </details>
          </>
        )
      }}
    </EditDialog>
  )
}

type DraftFields = Fields<ChannelDraft>

const placeholders: Readonly<Partial<Record<TargetField, string>>> = { url: 'https://', chat_id: '-100…', topic: 'bellevue-alerts' }

function Target({ kind, isNew, at }: DraftFields & { readonly kind: Kind; readonly isNew: boolean }): JSX.Element {
  const w = texts()
  const names: readonly TargetField[] = targetFields[kind]
  return (
    <>
      {names.map((name) => {
        const isServer = kind === 'ntfy' && name === 'url'
        return (
          <TextField
            key={name}
            label={isServer ? w.server : w.target[name]}
            type={name === 'url' ? 'url' : name === 'address' ? 'email' : name === 'bot_token' || name === 'token' ? 'password' : 'text'}
            placeholder={isServer ? 'https://ntfy.sh' : (placeholders[name] ?? '')}
            hint={isNew ? (kind === 'mail' ? w.addressHint : undefined) : w.keepTarget}
            isMono
            {...at(name, `target.${name}`)}
          />
        )
      })}
    </>
  )
}

/** Only administrators create channels of the whole organization. */
const Scope = ({ at }: DraftFields): JSX.Element => (
  <ChooseField
    of={projectRows.value}
    label={texts().scope}
    options={[
      ...(mayAdminister.value ? [['', texts().allProjects] as const] : []),
      ...projects.value.map(({ id, name }) => [id, plain(name)] as const),
    ]}
    {...at('project', 'project_id')}
  />
)

function Details({ at, draft }: DraftFields): JSX.Element {
  const w = texts()
  const { isQuiet } = draft
  return (
    <>
      <Groups {...at('groups')} />
      <TextField label={w.after} hint={w.afterHint} type="number" {...at('after', 'after_minutes')} />
      <label class="check">
        <input type="checkbox" checked={isQuiet} onChange={(event) => at('isQuiet').onChange(event.currentTarget.checked)} />
        {w.quietHours}
      </label>
      {isQuiet && (
        <>
          <TextField label={w.quietFrom} placeholder="22:00" {...at('from', 'quiet_hours.from')} />
          <TextField label={w.quietTo} placeholder="07:00" {...at('to', 'quiet_hours.to')} />
          <TextField label={w.zone} placeholder="Europe/Zurich" {...at('zone', 'quiet_hours.zone')} />
        </>
      )}
      <ChooseField
        label={w.language}
        options={Object.entries(languageNames)}
        {...at('language')}
        onChange={(next) => at('language').onChange(next as Language)}
      />
    </>
  )
}

interface GroupsProps {
  readonly value: readonly Group[]
  readonly onChange: (value: readonly Group[]) => void
}

/** An empty choice means all groups. */
const Groups = ({ value, onChange }: GroupsProps): JSX.Element => (
  <fieldset>
    <legend class="label">{texts().groupsHint}</legend>
    {groups.map((group) => (
      <label class="check" key={group}>
        <input
          type="checkbox"
          checked={value.includes(group)}
          onChange={() => onChange(value.includes(group) ? value.filter((one) => one !== group) : [...value, group])}
        />
        {texts().groups[group]}
      </label>
    ))}
  </fieldset>
)
