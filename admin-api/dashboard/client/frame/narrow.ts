/** Follows a media query. */
import { useEffect, useState } from 'preact/hooks'

/** Returns whether the window matches the query. */
export function useNarrow(query: string): boolean {
  const [list] = useState(() => matchMedia(query))
  const [matches, setMatches] = useState(list.matches)
  useEffect(() => {
    const follow = (): void => setMatches(list.matches)
    follow()
    list.addEventListener('change', follow)
    return () => list.removeEventListener('change', follow)
  }, [])
  return matches
}
