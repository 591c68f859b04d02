//! Makes a trace of a recording: `import FILE.jfr TRACE`.

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let mut recording =
        jfr::Recording::new(std::fs::File::open(&names[0]).expect("it is there")).expect("it can be read");
    match jfr::Import::read(&mut recording) {
        Ok(import) => {
            println!("{:?}\n{:?}", import.sums(), import.losses());
            import.write(&mut std::fs::File::create(&names[1]).expect("there is room")).expect("it can be written");
        }
        Err(error) => println!("{} {error}", names[0]),
    }
}
