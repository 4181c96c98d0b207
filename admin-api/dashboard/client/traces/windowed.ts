/** Virtual scrolling: renders only the visible rows of a long list and some around them. Placeholders keep the height of the others. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Shorter lists are rendered completely. */
const maxWhole = 200
const around = 20
/** Number of rows per move of the rendered range. */
const step = 10

export interface Windowed {
  /** Index of the first rendered row. `end` is exclusive. */
  readonly start: number
  readonly end: number
  /** Height of the rows before and after the range in pixels. */
  readonly before: number
  readonly behind: number
}

/** `body` contains the rows. All rows have the height of the row with `data-row`. */
export function useWindowed(count: number, body: RefObject<HTMLElement | null>): Windowed {
  const isLong = count > maxWhole
  const [range, setRange] = useState({ start: 0, end: maxWhole })
  const [rowPx, setRowPx] = useState(34)
  const frame = useRef(0)
  useLayoutEffect(() => {
    const height = body.current?.querySelector('[data-row]')?.getBoundingClientRect().height ?? 0
    if (height > 0 && Math.abs(height - rowPx) > 0.5) setRowPx(height)
  })
  useEffect(() => {
    const sheet = body.current?.closest('.sheet')
    if (!isLong || !sheet) return undefined
    const look = (): void => {
      frame.current = 0
      if (!body.current) return
      const top = sheet.getBoundingClientRect().top - body.current.getBoundingClientRect().top
      const first = Math.floor(top / rowPx / step) * step - around
      const start = Math.max(0, Math.min(first, count - 1))
      const end = Math.min(count, start + Math.ceil(sheet.clientHeight / rowPx / step) * step + 2 * around + step)
      setRange((before) => (before.start === start && before.end === end ? before : { start, end }))
    }
    const onScroll = (): void => {
      if (frame.current === 0) frame.current = requestAnimationFrame(look)
    }
    look()
    sheet.addEventListener('scroll', onScroll, { passive: true })
    addEventListener('resize', onScroll)
    return () => {
      cancelAnimationFrame(frame.current)
      frame.current = 0
      sheet.removeEventListener('scroll', onScroll)
      removeEventListener('resize', onScroll)
    }
  }, [isLong, count, rowPx])
  if (!isLong) return { start: 0, end: count, before: 0, behind: 0 }
  const end = Math.min(range.end, count)
  return { start: Math.min(range.start, end), end, before: range.start * rowPx, behind: (count - end) * rowPx }
}

/** Calls `onNear` when the element comes close to the visible area. */
export function useNear(element: RefObject<HTMLElement | null>, onNear: (() => void) | undefined): void {
  const latest = useRef(onNear)
  latest.current = onNear
  useEffect(() => {
    const target = element.current
    if (!target || !onNear) return undefined
    const observer = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && latest.current?.(), {
      root: target.closest('.sheet'),
      rootMargin: '800px',
    })
    observer.observe(target)
    return () => observer.disconnect()
  }, [onNear === undefined, onNear])
}

/** Whether tables become lists. Matches the breakpoint of the style sheet. */
export function useNarrow(): boolean {
  const [media] = useState(() => matchMedia('(max-width: 1020px)'))
  const [isNarrow, setNarrow] = useState(media.matches)
  useEffect(() => {
    const follow = (): void => setNarrow(media.matches)
    follow() // it may have changed since the first render
    media.addEventListener('change', follow)
    return () => media.removeEventListener('change', follow)
  }, [media])
  return isNarrow
}
