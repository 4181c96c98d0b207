/** Allows imports of style sheets, which the build bundles. */
declare module '*.css' {
  const none: undefined
  export default none
}
