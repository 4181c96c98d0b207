/** Assigns each postoffice of a MailEnable server to a project. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { mayAdminister } from '../app/permissions.ts'
import { projectRows, projects } from '../app/projects.ts'
import { showFault } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { Newest } from '../selection/newest.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { IngestSourceDetail, PostofficeMapping } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './sources-texts.ts'

interface MappingsProps {
  readonly sourceId: string
  readonly dropped: IngestSourceDetail['dropped_postoffices']
}

export function Mappings({ sourceId, dropped }: MappingsProps): JSX.Element {
  const w = texts()
  const list = useAll('/v1/mailenable/postoffice-mappings', { query: { bounce_source_config_id: sourceId } })
  const [isMaking, setMaking] = useState(false)
  return (
    <div class="block">
      <h2>{w.mappings}</h2>
      <p class="soft">{w.mappingsText}</p>
      <Show read={list.read} reload={list.reload} failure={w.sourcesFailed} rows={2}>
        {(rows) =>
          rows.length === 0 ? (
            <p>{w.noMappings}</p>
          ) : (
            <ul class="links">
              {rows.map((one) => (
                <Mapping key={one.id} mapping={one} onDone={list.reload} />
              ))}
            </ul>
          )
        }
      </Show>
      <Newest of={list} />
      {dropped.length > 0 && (
        <div class="note warn">
          <p>
            <b>{w.dropped}</b>
            {dropped.map(({ postoffice, events, last_at: at }) => (
              <span key={postoffice}>
                <br />
                <SafeText text={postoffice} /> · {w.events({ n: events })} · {shortTime(at)}
              </span>
            ))}
          </p>
        </div>
      )}
      {mayAdminister.value && (
        <div class="actions">
          <button class="button" onClick={() => setMaking(true)}>
            {w.newMapping}
          </button>
        </div>
      )}
      {isMaking && (
        <NewMapping sourceId={sourceId} first={dropped[0]?.postoffice ?? ''} onClose={() => setMaking(false)} onDone={list.reload} />
      )}
    </div>
  )
}

function Mapping({ mapping, onDone }: { readonly mapping: PostofficeMapping; readonly onDone: () => void }): JSX.Element {
  const { id, postoffice_name: postoffice, project_id: project, default_destination_id: destination } = mapping
  const again = { bounce_source_config_id: mapping.bounce_source_config_id, postoffice_name: postoffice, project_id: project }
  const remove = async (): Promise<void> => {
    try {
      await call('DELETE /v1/mailenable/postoffice-mappings/{id}', { path: { id } })
      onDone()
      const restore = (): Promise<void> =>
        call('POST /v1/mailenable/postoffice-mappings', { body: { ...again, default_destination_id: destination } }).then(onDone, showFault)
      toast(texts().mappingDeleted, () => void restore())
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <li>
      <code>
        <SafeText text={postoffice} />
      </code>
      <span>→ {plain(projects.value.find((one) => one.id === project)?.name ?? project)}</span>
      {mayAdminister.value && (
        <button class="button small" onClick={() => void remove()} aria-label={allTexts().removeNamed({ name: plain(postoffice) })}>
          {allTexts().remove}
        </button>
      )}
    </li>
  )
}

interface NewProps {
  readonly sourceId: string
  readonly first: string
  readonly onClose: () => void
  readonly onDone: () => void
}

function NewMapping({ sourceId, first, onClose, onDone }: NewProps): JSX.Element {
  const w = texts()
  const [name, setName] = useState(first)
  const [project, setProject] = useState(projects.value[0]?.id ?? '')
  const create = async (): Promise<void> => {
    await call('POST /v1/mailenable/postoffice-mappings', {
      body: { bounce_source_config_id: sourceId, postoffice_name: name, project_id: project },
    })
    onClose()
    onDone()
  }
  return (
    <FormDialog title={w.newMapping} submit={allTexts().create} onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <TextField label={w.postoffice} value={name} onChange={setName} isMono fault={fault?.fields.get('postoffice_name')} />
          <ChooseField
            label={allTexts().project}
            value={project}
            onChange={setProject}
            of={projectRows.value}
            options={projects.value.map((one) => [one.id, plain(one.name)] as const)}
            fault={fault?.fields.get('project_id')}
          />
        </>
      )}
    </FormDialog>
  )
}
