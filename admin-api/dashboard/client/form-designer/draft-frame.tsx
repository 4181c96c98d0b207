/** Hosted page of a draft, rendered by the service, in a frame without scripts. The frame is as high as its page. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { checkDefinition } from '#core/forms/definition/check-definition.ts'
import type { Definition } from '#core/forms/definition/definition.ts'
import { organization } from '../app/location.ts'

/**
 * Returns the part of a draft that the service can render. With errors, it lacks the invalid fields and the logic. Undefined if nothing
 * remains.
 */
export function showable(definition: Definition): { readonly definition: Definition; readonly isWhole: boolean } | undefined {
  const { errors } = checkDefinition(definition)
  if (errors.length === 0) return { definition, isWhole: true }
  const wrong = new Set(errors.map(({ path }) => Number(/^schema\.fields\[(\d+)\]/.exec(path)?.[1] ?? -1)))
  const fields = definition.schema.fields.filter((_, at) => !wrong.has(at))
  const keys = new Set(fields.map(({ key }) => key))
  const rows = definition.schema.layout?.rows.map(({ fields: placed }) => ({ fields: placed.filter((key) => keys.has(key)) }))
  const left = rows?.filter((row) => row.fields.length > 0)
  const { name, locale, theme, thank_you: thanks, settings } = definition
  const schema = { version: 1 as const, fields, ...(left && { layout: { version: 1 as const, rows: left } }) }
  for (const parts of [{ theme, thank_you: thanks, settings, locale }, { theme }, {}]) {
    const tried = checkDefinition({ ...parts, name: name.trim() === '' ? '…' : name, schema })
    if (tried.definition) return { definition: tried.definition, isWhole: false }
  }
  return undefined
}

export type DraftView = 'form' | 'errors' | 'thanks'

interface DraftFrameProps {
  readonly definition: Definition
  readonly view?: DraftView
  readonly lang?: string
  readonly title: string
  /** Whether the frame ignores focus and clicks. */
  readonly isStill?: boolean
  readonly isDark?: boolean
  /** Called after the page has loaded or changed its size. */
  readonly onShown?: (page: Document) => void
}

const pauseMs = 200

/**
 * Keeps the previous page until the next one has loaded. Each page gets a new frame, because navigation within a frame would add a history
 * entry.
 */
export function DraftFrame({ definition, view = 'form', lang = '', ...rest }: DraftFrameProps): JSX.Element {
  const source = JSON.stringify([view, lang, definition])
  const [wanted, setWanted] = useState(source)
  const [shown, setShown] = useState<string>()
  useEffect(() => {
    const timer = setTimeout(() => setWanted(source), pauseMs)
    return () => clearTimeout(timer)
  }, [source])
  const frames = [...new Set([shown, wanted])].filter((one) => one !== undefined)
  return (
    <>
      {frames.map((one) => (
        <Page key={one} source={one} {...rest} isWaiting={one !== shown} onReady={() => one === wanted && setShown(one)} />
      ))}
    </>
  )
}

/**
 * Sets the height of the frame to its content. A page is at least as high as its frame, so the measurement needs a frame without height.
 */
function fitHeight(frame: HTMLIFrameElement, page: Document): void {
  const stage = frame.closest('.stage')
  const top = stage?.scrollTop ?? 0
  frame.style.height = '0'
  frame.style.height = `${String(page.documentElement.scrollHeight)}px`
  if (stage) stage.scrollTop = top
}

let made = 0

interface PageProps extends Omit<DraftFrameProps, 'definition' | 'view' | 'lang'> {
  readonly source: string
  readonly isWaiting: boolean
  readonly onReady: () => void
}

function Page({ source, title, isStill = false, isDark = false, isWaiting, onReady, onShown }: PageProps): JSX.Element {
  const form = useRef<HTMLFormElement>(null)
  const frame = useRef<HTMLIFrameElement>(null)
  const isSent = useRef(false)
  const observer = useRef<ResizeObserver>(undefined)
  const [target] = useState(() => `form-draft-${String((made += 1))}`)
  const report = useRef(onShown)
  report.current = isWaiting ? undefined : onShown
  useEffect(() => {
    isSent.current = true
    form.current?.submit()
    return () => observer.current?.disconnect()
  }, [])
  const measure = (): void => {
    const page = frame.current?.contentDocument
    if (!page?.documentElement || !frame.current) return
    report.current?.(page)
    fitHeight(frame.current, page)
  }
  useEffect(measure, [isWaiting])
  const follow = (): void => {
    const page = frame.current?.contentDocument
    if (!isSent.current || !page?.body) return
    observer.current?.disconnect()
    observer.current = new ResizeObserver(measure)
    observer.current.observe(page.body)
    measure()
    onReady()
  }
  const [view, lang, definition] = JSON.parse(source) as readonly [string, string, Definition]
  const fields = {
    '~definition': JSON.stringify(definition),
    ...{ '~view': view, '~lang': lang, '~organization': organization.value?.name ?? '' },
  }
  return (
    <>
      <form ref={form} action="/view/form" method="post" target={target} hidden>
        {Object.entries(fields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
      </form>
      <iframe
        ref={frame}
        name={target}
        class={`draft-page${isWaiting ? ' waiting' : ''}${isDark ? ' dark' : ''}`}
        title={title}
        sandbox="allow-forms allow-same-origin"
        referrerpolicy="no-referrer"
        inert={isStill || isWaiting}
        aria-hidden={isWaiting}
        tabIndex={isStill || isWaiting ? -1 : undefined}
        onLoad={follow}
      />
    </>
  )
}
