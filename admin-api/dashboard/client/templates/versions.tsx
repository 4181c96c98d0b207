/** Versions of a template: line difference to the current version, and rollback. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { go, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { showFault, useList, useRead } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { Show } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import type { Template, TemplateVersion } from '../wire/api.d.ts'
import { VersionList } from '../versions/version-list.tsx'
import { diffOf } from './diff.ts'
import { contentOf, draftOf, type Draft } from '../template-editor/draft.ts'
import { texts } from './template-texts.ts'

interface VersionsProps {
  readonly template: Template
  readonly onRestored: (template: Template) => void
}

export function Versions({ template, onRestored }: VersionsProps): JSX.Element {
  const w = texts()
  const { id, current_version: current } = template
  const list = useList('/v1/templates/{id}/versions', { path: { id } }, { isShown: false })
  const named = Number(query.value.get('version'))
  const chosen = named >= 1 && named <= current ? named : undefined
  return (
    <div class="template-versions">
      <VersionList
        label={w.versions}
        list={list}
        failure={w.versionsFailed}
        entryOf={({ version, created_at: at }) => ({
          ...{ key: version, title: w.versionNumber({ n: version }), at, isChosen: version === (chosen ?? current) },
          href: linkHere({ version: String(version) }),
          tag: version === current ? w.current : undefined,
        })}
      />
      {chosen === undefined || chosen === current ? (
        <p class="faint">{w.sameAsCurrent}</p>
      ) : (
        <Compared template={template} version={chosen} onRestored={onRestored} />
      )}
    </div>
  )
}

function Compared({ template, version, onRestored }: VersionsProps & { readonly version: number }): JSX.Element {
  const w = texts()
  const { id, current_version: current } = template
  const read = useRead('/v1/templates/{id}/versions/{version}', { path: { id, version } })
  const [isBusy, start] = useBusy()
  const put = async (draft: Draft): Promise<Template> => {
    const next = await call('PUT /v1/templates/{id}', { path: { id }, body: contentOf(draft) })
    onRestored(next)
    return next
  }
  const restore = async (older: TemplateVersion): Promise<void> => {
    const before = draftOf(template)
    try {
      const next = await put(draftOf(older))
      go(linkHere({ version: '' }), { replaces: true })
      toast(w.restored({ from: version, to: next.current_version }), () => void put(before))
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <Show read={read} reload={read.reload} failure={w.versionsFailed}>
      {(older) => (
        <div class="compared">
          <div class="actions">
            <h2>{w.compare({ from: version, to: current })}</h2>
            {mayChange.value && (
              <button class="button small" aria-disabled={isBusy} onClick={() => start(() => restore(older))}>
                {w.restore}
              </button>
            )}
          </div>
          {(['subject', 'html', 'text', 'schema'] as const).map((part) => (
            <Difference key={part} title={w[part]} before={draftOf(older)[part]} after={draftOf(template)[part]} />
          ))}
        </div>
      )}
    </Show>
  )
}

function Difference({ title, before, after }: { readonly title: string; readonly before: string; readonly after: string }): JSX.Element {
  const w = texts()
  if (before === after)
    return (
      <p class="difference-same">
        <b>{title}</b> <span class="faint">{w.noDifference}</span>
      </p>
    )
  return (
    <section class="difference">
      <h3>{title}</h3>
      <div class="diff" tabIndex={0} role="group" aria-label={title}>
        {diffOf(before, after).map((line, i) =>
          line.kind === 'fold' ? (
            <p key={i} class="fold">
              {w.unchangedLines({ count: line.count })}
            </p>
          ) : (
            <pre key={i} class={line.kind}>
              <span aria-hidden="true">{line.kind === 'added' ? '+' : line.kind === 'gone' ? '−' : ' '}</span>
              {line.kind !== 'same' && <span class="hidden">{line.kind === 'added' ? w.added : w.gone} </span>}
              {line.text === '' ? ' ' : line.text}
            </pre>
          ),
        )}
      </div>
    </section>
  )
}
