/** Menus that close by Escape and by a click elsewhere. */
import { useEffect } from 'preact/hooks'

export function useOutside(anchor: { readonly current: HTMLElement | null }, isShown: boolean, close: () => void): void {
  useEffect(() => {
    if (!isShown) return undefined
    const onClick = (event: Event): void => {
      if (event.target instanceof Node && !anchor.current?.contains(event.target)) close()
    }
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      close()
      anchor.current?.querySelector('button')?.focus()
    }
    document.addEventListener('pointerdown', onClick)
    document.addEventListener('keydown', onKey, true)
    return () => {
      document.removeEventListener('pointerdown', onClick)
      document.removeEventListener('keydown', onKey, true)
    }
  }, [isShown])
}
