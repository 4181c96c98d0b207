/** A part of a screen whose code is loaded when it is first shown. */
import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading, State } from '../parts/states.tsx'
import { withWords } from '../words/catalog.ts'
import { words } from '../words/shell-words.ts'

/** Made once for each part, outside of components. `meanwhile` stands in its place until its code is there. */
export function later<P extends object>(
  load: () => Promise<{ readonly default: ComponentType<P> }>,
  meanwhile: () => JSX.Element | null = () => <Loading />,
): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function Later(props: P): JSX.Element | null {
    const [, setTurn] = useState(0)
    const [isFailed, setFailed] = useState(false)
    useEffect(() => {
      if (loaded) return
      withWords(load()).then(
        ({ default: component }) => {
          loaded = component
          setTurn((turn) => turn + 1)
        },
        () => setFailed(true),
      )
    }, [])
    const Loaded = loaded
    if (Loaded) return <Loaded {...props} />
    const w = words()
    if (!isFailed) return meanwhile()
    return (
      <State title={w.notLoaded} text={w.notLoadedText}>
        <div class="actions">
          <button class="button primary" onClick={() => location.reload()}>
            {w.loadAgain}
          </button>
        </div>
      </State>
    )
  }
}
