/** Finds the file of a path: the file itself, the index of a folder, or a page without its extension. Pure. */

export type Found = { readonly file: string } | { readonly redirect: string }

/** `path` is decoded and has no leading slash. */
export function findFile(path: string, has: (file: string) => boolean): Found | undefined {
  if (path === '' || path.endsWith('/')) {
    if (has(`${path}index.html`)) return { file: `${path}index.html` }
    const bare = path.slice(0, -1)
    return bare !== '' && (has(bare) || has(`${bare}.html`)) ? { redirect: bare } : undefined
  }
  if (has(path)) return { file: path }
  if (has(`${path}.html`)) return { file: `${path}.html` }
  return has(`${path}/index.html`) ? { redirect: `${path}/` } : undefined
}
