/** Creates components whose code is loaded on first use. */
import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading, State } from '../parts/states.tsx'
import { withTexts } from '../texts/catalog.ts'
import { texts } from '../texts/shell-texts.ts'

/**
 * Returns a component that loads its code on the first render. Call it once per component, outside of components. It renders `meanwhile`
 * until the code has loaded.
 */
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
      withTexts(load()).then(
        ({ default: component }) => {
          loaded = component
          setTurn((turn) => turn + 1)
        },
        () => setFailed(true),
      )
    }, [])
    const Loaded = loaded
    if (Loaded) return <Loaded {...props} />
    const w = texts()
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
