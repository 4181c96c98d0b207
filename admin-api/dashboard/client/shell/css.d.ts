/** Styles are bundled by the build. */
declare module '*.css' {
  const none: undefined
  export default none
}
