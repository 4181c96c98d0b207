/** The form as visitors see it, with the chosen field marked on it: a click chooses, and what is dragged is dropped between rows. */
import type { JSX } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Field } from '#core/forms/definition/definition.ts'
import { go, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { Segments } from '../parts/controls.tsx'
import { State } from '../parts/states.tsx'
import type { Editing } from '../forms/use-draft.ts'
import { choose, type FieldActions } from './actions.ts'
import { words } from './designer-words.ts'
import { DraftFrame, showable } from './draft-frame.tsx'
import { dragged, dropBefore } from './dragging.ts'
import { Tools } from './outline.tsx'
import { keysByRow } from './rows.ts'

interface CanvasProps {
  readonly editing: Editing
  readonly actions: FieldActions
  readonly chosen: Field | undefined
}

interface Box {
  readonly top: number
  readonly left: number
  readonly width: number
  readonly height: number
}

type Boxes = ReadonlyMap<string, Box>

/** Where each field stands on the page; of a step its title. */
function boxesOn(page: Document): Boxes {
  const marked = [...page.querySelectorAll<HTMLElement>('[data-key]')]
  return new Map(
    marked.map((one) => {
      const part = one.matches('section') ? (one.querySelector('h2') ?? one) : one
      const { top, left, width, height } = part.getBoundingClientRect()
      return [one.dataset['key'] ?? '', { top, left, width, height }]
    }),
  )
}

const isSame = (a: Boxes, b: Boxes): boolean => JSON.stringify([...a]) === JSON.stringify([...b])

export function Canvas({ editing, actions, chosen }: CanvasProps): JSX.Element {
  const w = words()
  const [boxes, setBoxes] = useState<Boxes>(new Map())
  const isPhone = query.value.get('view') === 'phone'
  const shown = showable(editing.definition)
  const note = useCallback((page: Document) => {
    const next = boxesOn(page)
    setBoxes((before) => (isSame(before, next) ? before : next))
  }, [])
  return (
    <section class="canvas" aria-label={w.preview}>
      <div class="reader-bar">
        <Segments
          label={w.width}
          value={isPhone ? 'phone' : 'desktop'}
          onChoose={(next) => go(linkHere({ view: next === 'phone' ? 'phone' : '' }), { replaces: true })}
          choices={[
            { value: 'desktop', label: w.desktop, icon: 'desktop' },
            { value: 'phone', label: w.phone, icon: 'phone' },
          ]}
        />
        {shown && !shown.isWhole && <span class="tag warn">{w.stale}</span>}
      </div>
      {shown ? (
        <div class="stage" tabIndex={0} role="group" aria-label={w.framed}>
          <div class={isPhone ? 'drawn phone' : 'drawn'}>
            <DraftFrame definition={shown.definition} title={w.framed} isStill onShown={note} />
            <Over boxes={boxes} editing={editing} actions={actions} chosen={chosen} />
          </div>
          <p class="faint stage-note">{w.canvasHint}</p>
        </div>
      ) : (
        <State title={w.noFields} text={w.noFieldsText} />
      )}
    </section>
  )
}

/** Over the page: takes clicks and what is dropped, as the page itself is a picture. */
function Over({ boxes, editing, actions, chosen }: CanvasProps & { readonly boxes: Boxes }): JSX.Element {
  const w = words()
  const layer = useRef<HTMLDivElement>(null)
  const [drop, setDrop] = useState<{ readonly before: number; readonly top: number }>()
  const box = chosen && boxes.get(chosen.key)
  useEffect(() => {
    layer.current?.querySelector('.chosen-box')?.scrollIntoView({ block: 'nearest' })
  }, [chosen?.key, box?.top])
  const pointOf = (event: MouseEvent): readonly [x: number, y: number] => {
    const { left = 0, top = 0 } = layer.current?.getBoundingClientRect() ?? {}
    return [event.clientX - left, event.clientY - top]
  }
  const pick = (event: MouseEvent): void => {
    if (event.target !== layer.current) return
    const [x, y] = pointOf(event)
    const hit = [...boxes].find(([, one]) => x >= one.left && x <= one.left + one.width && y >= one.top && y <= one.top + one.height)
    if (hit) choose(hit[0])
  }
  const aim = (event: DragEvent): void => {
    if (!dragged.value) return
    event.preventDefault()
    const [, y] = pointOf(event)
    let place = { before: 0, top: Math.min(...[...boxes.values()].map(({ top }) => top)) }
    for (const [row, keys] of keysByRow(editing.definition.schema).entries()) {
      const found = keys.flatMap((key) => boxes.get(key) ?? [])
      const [first] = found
      const end = Math.max(...found.map(({ top, height }) => top + height))
      if (first && (first.top + end) / 2 < y) place = { before: row + 1, top: end }
    }
    if (place.before !== drop?.before) setDrop(place)
  }
  return (
    <div
      class="over-page"
      ref={layer}
      onClick={pick}
      onDragOver={aim}
      onDragLeave={(event) => event.target === layer.current && setDrop(undefined)}
      onDrop={(event) => {
        event.preventDefault()
        if (drop) dropBefore(actions, drop.before)
        setDrop(undefined)
      }}
    >
      {box && (
        <div class="chosen-box" style={placed(box, 9)}>
          <span class="chosen-name">{w.chosen(w.types[chosen.type], chosen.key)}</span>
          {mayChange.value && <Tools field={chosen} actions={actions} />}
        </div>
      )}
      {drop && (
        <div class="drop-bar" style={{ top: `${String(drop.top)}px` }}>
          {w.dropHere}
        </div>
      )}
    </div>
  )
}

const placed = ({ top, left, width, height }: Box, by: number) => ({
  ...{ top: `${String(top - by)}px`, left: `${String(left - by)}px` },
  ...{ width: `${String(width + 2 * by)}px`, height: `${String(height + 2 * by)}px` },
})
