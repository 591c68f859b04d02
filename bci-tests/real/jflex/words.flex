%%
%class Words
%unicode
%standalone
%line
%column
%state STRING
Letter = [:letter:]
Digit = [0-9]
%%
<YYINITIAL> {
  "if" | "else" | "while" | "for" | "return"  { System.out.println("keyword " + yytext()); }
  {Letter} ({Letter} | {Digit} | _)*          { System.out.println("name " + yytext()); }
  {Digit}+ ("." {Digit}+)? ([eE] [+-]? {Digit}+)?  { System.out.println("number " + yytext()); }
  \"                                          { yybegin(STRING); }
  "/*" ~"*/"                                  { /* a comment */ }
  [^]                                         { /* anything else */ }
}
<STRING> {
  \"                                          { yybegin(YYINITIAL); }
  \\ [ntr\"\\]                                { System.out.println("escape"); }
  [^\"\\]+                                    { System.out.println("text " + yytext()); }
}
