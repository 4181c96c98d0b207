/** Step 1 of going live: the choice of a provider, with a suggestion by MX records. */
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { useKeys } from '../app/keys.ts'
import { link, projectId } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { firstOf, useRead } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { initial } from '../parts/safe-text.tsx'
import { NotAllowed, Show } from '../parts/states.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { Flow } from './flow.tsx'
import { texts } from './going-live-texts.ts'
import { groupOf, kindsOf, type Kind } from './kinds.ts'

/** Tiles of each group until the person asks for all. */
const tilesShown = 6

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Domain for the suggestion: that of the signed-in person, else that of the last captured sender. */
function useSuggestion(): { readonly domain: string; readonly presets: ReturnType<typeof usePresets> } {
  const own = domainOf(boot.email)
  const first = usePresets(own)
  const hasFirst = first.data?.data.some(({ suggested }) => suggested) !== false
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const traces = useRead('/v1/traces', hasFirst ? undefined : firstOf(1, { query: { ...project, status: 'captured' as const } }))
  const sender = traces.data?.data[0]?.from.replace(/>\s*$/, '')
  const other = sender?.includes('@') ? domainOf(sender) : own
  const second = usePresets(other === own ? undefined : other)
  return second.data?.data.some(({ suggested }) => suggested) ? { domain: other, presets: second } : { domain: own, presets: first }
}

const usePresets = (domain: string | undefined) =>
  useRead('/v1/destinations/presets', domain === undefined ? undefined : { query: { domain } }, { isShown: true })

export function ProviderStep(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const { domain, presets } = useSuggestion()
  const providers = useRead('/v1/destinations/providers', {})
  const [text, setText] = useState('')
  const [areAll, setAll] = useState(false)
  const wanted = text.trim().toLowerCase()
  if (!mayChange.value)
    return (
      <Flow step={1}>
        <section>
          <NotAllowed says={w.onlyDevelopers} />
        </section>
      </Flow>
    )
  return (
    <Flow step={1}>
      <section aria-labelledby="who">
        <div class="say">
          <h2 id="who">{w.whoSends}</h2>
          <p>{w.whoSendsText}</p>
        </div>
        <Show read={presets} reload={presets.reload} failure={common.presetsFailed} rows={6}>
          {({ data }) => {
            const kinds = kindsOf(data, providers.data?.data ?? [])
            const found = kinds.filter(({ name, host }) => `${name} ${host}`.toLowerCase().includes(wanted))
            const suggested = kinds.find(({ preset }) => preset?.suggested)
            return (
              <>
                <div class="block">
                  <Find label={w.find({ n: kinds.length })} text={text} onChange={setText} />
                </div>
                {wanted === '' && suggested && (
                  <Tiles title={w.suggested} kinds={[suggested]} note={w.suggestedText({ domain })} isSuggested />
                )}
                {(['api', 'host', 'other'] as const).map((group) => {
                  const own = found.filter((kind) => groupOf(kind) === group)
                  const titles = { api: w.apis, host: w.hosts, other: w.others }
                  return <Tiles key={group} title={titles[group]} kinds={areAll || wanted !== '' ? own : own.slice(0, tilesShown)} />
                })}
                {wanted === '' && !areAll && (
                  <div class="block">
                    <button class="as-link" onClick={() => setAll(true)}>
                      {w.all({ n: kinds.length })}
                    </button>
                  </div>
                )}
              </>
            )
          }}
        </Show>
      </section>
    </Flow>
  )
}

interface FindProps {
  readonly label: string
  readonly text: string
  readonly onChange: (text: string) => void
}

function Find({ label, text, onChange }: FindProps): JSX.Element {
  const id = useId()
  useKeys({ '/': () => document.getElementById(id)?.focus() }, [id])
  return (
    <div class="query-bar" role="search">
      <Icon name="search" />
      <input
        id={id}
        aria-label={label}
        placeholder={label}
        value={text}
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <kbd class="wide-only">/</kbd>
    </div>
  )
}

interface TilesProps {
  readonly title: string
  readonly kinds: readonly Kind[]
  readonly note?: string
  readonly isSuggested?: boolean
}

function Tiles({ title, kinds, note, isSuggested = false }: TilesProps): JSX.Element | null {
  const w = texts()
  if (kinds.length === 0) return null
  return (
    <div class="block">
      <h3>{title}</h3>
      <ul class={isSuggested ? 'tiles one' : 'tiles'}>
        {kinds.map((kind) => {
          const setting = kind.preset?.needed_setting
          const content = (
            <>
              <span class="tile-mark" aria-hidden="true">
                {initial(kind.name)}
              </span>
              <span>
                <b>{kind.name}</b>
                <small>{setting ? w.notAllowed({ setting }) : (note ?? kind.text)}</small>
              </span>
            </>
          )
          return (
            <li key={kind.id}>
              {setting ? (
                <div class="tile off">{content}</div>
              ) : (
                <a class="tile" href={link(`/destinations/new/${kind.id}`)}>
                  {content}
                </a>
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
