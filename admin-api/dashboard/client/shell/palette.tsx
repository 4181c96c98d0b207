/** Command palette: navigation, search and actions by keyboard. */
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/controls.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import type { TraceSummary } from '../wire/api.d.ts'
import { colon } from '../texts/language.ts'
import { texts } from '../texts/shell-texts.ts'
import { firstOf } from '../app/query.ts'
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { isApiCallOpen, isPaletteOpen } from '../app/open.ts'
import { mayAdminister, mayChange, mayRead } from '../app/permissions.ts'
import type { Screen } from '../screens/screen.ts'
import { isListed, screens } from '../screens/screens.ts'
import { setTheme } from '../app/settings.ts'

interface Choice {
  readonly id: string
  readonly group: string
  readonly label: JSX.Element | string
  readonly icon: IconName | { readonly status: string }
  readonly keys?: readonly string[]
  readonly run: () => void
}

const isTraceId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(text)

export function Palette(): JSX.Element {
  const w = texts()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const found = useTraces(text.trim())
  const choices = [...found.map(traceChoice), ...lookUps(text.trim()), ...goings(text.trim())]
  const close = (): void => void (isPaletteOpen.value = false)
  const take = (choice: Choice | undefined): void => {
    close()
    choice?.run()
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setAt((at + step + choices.length) % Math.max(1, choices.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      take(choices[at])
    }
  }
  const groups = [...Map.groupBy(choices, ({ group }) => group)]
  return (
    <Dialog title={w.searchOrJump} kind="palette" onClose={close}>
      <label>
        <Icon name="search" />
        <span class="hidden">{w.searchOrJump}</span>
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={choices[at] ? `choice-${choices[at].id}` : undefined}
          aria-autocomplete="list"
          placeholder={w.paletteHint}
          value={text}
          spellcheck={false}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKey}
        />
        <kbd>esc</kbd>
      </label>
      <div role="listbox" id="palette-list" aria-label={w.searchOrJump}>
        {groups.map(([group, rows]) => (
          <div role="group" aria-label={group} key={group}>
            <h3 aria-hidden="true">{group}</h3>
            {rows.map((choice) => (
              <Option
                key={choice.id}
                choice={choice}
                isAt={choices[at] === choice}
                onTake={() => take(choice)}
                onPoint={() => setAt(choices.indexOf(choice))}
              />
            ))}
          </div>
        ))}
      </div>
    </Dialog>
  )
}

interface OptionProps {
  readonly choice: Choice
  readonly isAt: boolean
  readonly onTake: () => void
  readonly onPoint: () => void
}

function Option({ choice: { id, icon, label, keys }, isAt, onTake, onPoint }: OptionProps): JSX.Element {
  const option = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (isAt) option.current?.scrollIntoView({ block: 'nearest' })
  }, [isAt])
  return (
    <div role="option" id={`choice-${id}`} ref={option} aria-selected={isAt} onClick={onTake} onPointerMove={onPoint}>
      {typeof icon === 'string' ? <Icon name={icon} /> : <Mark name={icon.status} />}
      <span class="cut">{label}</span>
      <span class="keys">
        {keys?.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </div>
  )
}

/** Returns traces by id, or by part of a subject or address. */
function useTraces(text: string): readonly TraceSummary[] {
  const [found, setFound] = useState<readonly TraceSummary[]>([])
  useEffect(() => {
    if (text.length < 3 || !mayRead.value) return setFound([])
    const aborter = new AbortController()
    const timer = setTimeout(() => {
      const options = { signal: aborter.signal }
      const asked = isTraceId(text)
        ? call('/v1/traces/{trace_id}', { path: { trace_id: text } }, options).then((trace) =>
            'subject' in trace ? [trace as TraceSummary] : [],
          )
        : call('/v1/traces', firstOf(5, { query: { q: text, ...(projectId.value && { project: projectId.value }) } }), options).then(
            ({ data }) => data,
          )
      asked.then(setFound, () => undefined)
    }, 200)
    return () => {
      clearTimeout(timer)
      aborter.abort()
    }
  }, [text])
  return found
}

const traceChoice = (trace: TraceSummary): Choice => ({
  id: trace.trace_id,
  group: texts().traces,
  icon: { status: trace.status },
  label: (
    <>
      <code>{trace.trace_id.slice(0, 8)}</code> <SafeText text={trace.subject || texts().noSubject} />{' '}
      <span class="faint">{trace.to[0]}</span>
    </>
  ),
  run: () => go(link(`/traces/${trace.trace_id}`)),
})

function lookUps(text: string): Choice[] {
  if (text === '' || !mayRead.value) return []
  const w = texts()
  return [
    {
      id: 'look-traces',
      group: w.lookUp,
      label: w.tracesThatContain({ text }),
      icon: 'traces',
      run: () => go(link('/traces', { q: text })),
    },
  ]
}

const idOf = (what: string, { at }: Screen): string => `${what}${at === '/' ? '-overview' : at.replaceAll('/', '-')}`

function goings(text: string): Choice[] {
  const w = texts()
  const all: Choice[] = [
    ...screens.filter(isListed).map((screen): Choice => ({
      id: idOf('go', screen),
      group: w.goTo,
      label: screen.label(w),
      icon: screen.icon,
      ...(screen.key !== undefined && { keys: ['g', screen.key] }),
      run: () => go(link(screen.at)),
    })),
    { id: 'docs', group: w.goTo, label: w.entries.docs, icon: 'docs', run: () => location.assign('/docs') },
    ...(mayChange.value ? screens : []).flatMap((screen): Choice[] =>
      screen.makes === undefined || (screen.isForAdministrators && !mayAdminister.value)
        ? []
        : [
            {
              ...{ id: idOf('new', screen), group: w.doThings, label: screen.makes(w), icon: 'plus' },
              run: () => go(link(screen.at, { new: '1' })),
            },
          ],
    ),
    { id: 'api', group: w.doThings, label: w.asApiCall, icon: 'code', run: () => void (isApiCallOpen.value = true) },
    { id: 'light', group: w.doThings, label: `${w.theme}${colon()} ${w.themeLight}`, icon: 'theme', run: () => setTheme('light') },
    { id: 'dark', group: w.doThings, label: `${w.theme}${colon()} ${w.themeDark}`, icon: 'theme', run: () => setTheme('dark') },
  ]
  const wanted = text.toLowerCase()
  return all.filter(({ label }) => typeof label === 'string' && label.toLowerCase().includes(wanted))
}
